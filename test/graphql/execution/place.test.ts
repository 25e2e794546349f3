// The locations of failed fields in their document.
import { type FieldNode, getLocation, Kind, parse, Source } from 'graphql'
import { expect, test } from 'vitest'
import { FieldFailure } from '../../../src/graphql/execution/collected-errors.ts'
import { placeOf } from '../../../src/graphql/execution/place.ts'

function fieldsOf(source: Source): readonly FieldNode[] {
  const [definition] = parse(source).definitions
  const selections = definition?.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet.selections : []
  return selections.filter((selection) => selection.kind === Kind.FIELD)
}

test.for(['{ a b }', '{\n  a\n  b }', '\r\n{a\r\n\r\nb}', '\r{\r a\n\rb\r}', '# \u2028 \n{ a, \nb }', '{a\nb\n}\n'])(
  'lines and columns of %j are those of graphql-js',
  (text) => {
    const source = new Source(text)
    const nodes = fieldsOf(source)
    expect(nodes).toHaveLength(2)
    const expected = nodes.map(({ loc }) => getLocation(source, loc?.start ?? -1))
    expect(placeOf(new FieldFailure('', nodes, null)).locations).toEqual(expected)
  },
)

test('the lines of a document are searched once, however many fields fail', () => {
  const source = new Source(`{ ${Array.from({ length: 100 }, (_, index) => `a${index}`).join('\n')} }`)
  const nodes = fieldsOf(source)
  const { body } = source
  let reads = 0
  Object.defineProperty(source, 'body', {
    get() {
      reads += 1
      return body
    },
  })
  for (const [index, node] of nodes.entries()) {
    const { locations } = placeOf(new FieldFailure('', [node], null))
    expect(locations).toEqual([{ line: index + 1, column: index === 0 ? 3 : 1 }])
  }
  expect(reads).toBe(1)
})
