// What one document may ask for: each limit at its edge, with fragments counted where they are spread.
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { documentExcess } from '../src/graphql/document/limits.ts'

const LIMITS = { maxDepth: 4, maxAliases: 3, maxRootFields: 2, maxDirectives: 2, maxFields: 8 }

const excess = (text: string) => documentExcess(parse(text), LIMITS)?.message ?? null

test.each([
  ['four levels', '{ a { b { c { d } } } }', null],
  ['five levels', '{ a { b { c { d { e } } } } }', 'levels of fields'],
  ['five levels through a fragment', '{ a { b { ...F } } } fragment F on T { c { d { e } } }', 'levels of fields'],
  ['three aliases', '{ a { x: b y: b z: b } }', null],
  ['four aliases', '{ a { w: b x: b y: b z: b } }', 'aliases'],
  ['an alias too many in a fragment nobody spreads', '{ a } fragment F on T { w: b x: b y: b z: b }', 'aliases'],
  ['two fields at the root', '{ a b }', null],
  ['three fields at the root', '{ a b c }', 'fields at its root'],
  [
    'three fields at the root through fragments',
    '{ ...F c } fragment F on T { a ...G } fragment G on T { b }',
    'fields at its root',
  ],
  ['two directives', '{ a @skip(if: true) b @skip(if: true) }', null],
  ['three directives', 'query @x { a @skip(if: true) ... @skip(if: true) { b } }', 'directives'],
  ['directives of variables', 'query($a: Int @x, $b: Int @x, $c: Int @x) { a }', 'directives'],
  ['eight fields', '{ a { b c d } e { f g h } }', null],
  ['nine fields', '{ a { b c d } e { f g h i } }', 'fields with its fragments expanded'],
  [
    'nine fields of a fragment spread twice',
    '{ a { ...F } b { ...F } } fragment F on T { c d e f }',
    'fields with its fragments expanded',
  ],
  ['a fragment that is not there', '{ a { ...F } }', null],
  ['types, which are refused elsewhere', 'type A { a: Int b: Int c: Int } { a }', null],
  ['a fragment within itself', '{ a { ...F } } fragment F on T { b ...F }', null],
])('measures %s', (_, text, what) => {
  const found = excess(text)
  if (what === null) expect(found).toBeNull()
  else expect(found).toContain(` ${what}: ask for less at once.`)
})

const MANY = { ...LIMITS, maxFields: 1_000 }
const times = (count: number, text: string) => `${text} `.repeat(count)

/** Documents that have one field with a selection so many times where all of them merge. */
const REPEATED: readonly (readonly [where: string, document: (count: number) => string])[] = [
  ['in one selection', (count) => `{ a { ${times(count, 'b { c }')} } }`],
  ['under an alias', (count) => `{ a { ${times(count, 'b { c }').replace('b', 'b: c')} } }`],
  ['in an inline fragment', (count) => `{ a { ${times(count - 1, 'b { c }')} ... on T { ... { b { d } } } } }`],
  ['in fields that merge', (count) => `{ a { ${times(count - 9, 'b { c }')} } a { ${times(9, 'b { d }')} } }`],
  [
    'in fragments, of which one is spread twice',
    (count) =>
      `{ a { ...F ...F ...G } } fragment F on T { ${times(count - 9, 'b { c }')} } fragment G on T { ${times(9, 'b { c }')} }`,
  ],
  ['in a fragment nobody spreads', (count) => `{ a } fragment F on T { ${times(count, 'b { c }')} }`],
]

test.each(REPEATED)('a field with a selection may be repeated 224 times %s', (_, documentOf) => {
  const excessOf = (count: number) => documentExcess(parse(documentOf(count)), MANY)?.message
  expect(excessOf(224)).toBeUndefined()
  expect(excessOf(225)).toContain('repeats its fields too often')
})

test.each([
  ['fields without a selection', `{ a { ${times(900, 'b')} } }`],
  ['fields that do not merge', `{ a { ${times(150, 'b { c }')} } d { ${times(150, 'b { c }')} } }`],
  ['a circle of fragments, which are refused elsewhere', '{ a { ...F } } fragment F on T { b { ...F } b { ...F } }'],
])('%s are not repeated too often', (_, text) => {
  expect(documentExcess(parse(text), MANY)).toBeNull()
})

test.each([
  ['one definition', 7],
  ['many definitions, each of which might be read,', 4],
])('a document of %s whose fragments are read again and again is refused before that takes long', (_, levels) => {
  const doubled = Array.from(
    { length: levels },
    (_, at) => `fragment A${at} on T { x { ...A${at + 1} } y { ...A${at + 1} } }`,
  )
  const leaves = `fragment A${levels} on T { a { ...E } b { ...E } c { ...E } d { ...E } }`
  const again = Array.from({ length: 100 }, (_, at) => `fragment B${at} on T { ...A0 }`)
  const text = `{ ...A0 } ${doubled.join(' ')} ${leaves} fragment E on T { ${times(430, '...Q')} } ${again.join(' ')}`
  const excessive = documentExcess(parse(text), { ...MANY, maxDepth: 20 })
  expect(excessive?.message).toContain('repeats its fields too often')
})

test('the error names its place: the beginning of the document, or of the operation that asks for too much', () => {
  const placeOf = (text: string) => documentExcess(parse(text), LIMITS)?.locations
  expect(placeOf('\n  { a { w: b x: b y: b z: b } }')).toEqual([{ line: 2, column: 3 }])
  expect(placeOf('query A { a }\nquery B { a b c }')).toEqual([{ line: 2, column: 1 }])
})

test('fragments that double at each of sixty levels are measured once each', () => {
  const levels = Array.from(
    { length: 60 },
    (_, level) => `fragment F${level} on T { ...F${level + 1} ...F${level + 1} }`,
  )
  expect(excess(`{ a { ...F0 } } ${levels.join(' ')} fragment F60 on T { b }`)).toContain(
    'fields with its fragments expanded',
  )
})
