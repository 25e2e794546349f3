// Tests the text edits of the query builder: what a checkbox adds and removes, and what it leaves alone.
import { readFileSync } from 'node:fs'
import { buildSchema, Kind, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import {
  argumentAt,
  readQuery,
  selectionAt,
  withArgument,
  withField,
  withoutArgument,
  withoutField,
} from '../../src/explorer/graphiql/builder/query-edit.ts'
import { type Branch, rootBranches } from '../../src/explorer/graphiql/builder/schema-branches.ts'

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))

test('checking fields of an empty editor writes a valid query, and unchecking them all empties it', () => {
  let text = ticked('', 'me', 'email')
  expect(text).toBe('query {\n  me {\n    email\n  }\n}\n')
  text = ticked(text, 'me', 'projects', 'latestExport', 'digest')
  expect(text).toContain('  me {\n    email\n    projects {\n      latestExport {\n        digest\n      }\n    }\n  }')
  expect(validate(schema, parse(text))).toEqual([])
  expect(unticked(unticked(text, 'me', 'projects', 'latestExport', 'digest'), 'me', 'email').trim()).toBe('')
})

test('a required argument becomes a variable, and is removed with the last field that uses it', () => {
  const text = ticked('{ me { email } }', 'me', 'latestExport')
  expect(text).toContain('query($ref: String!) { me { email\n    latestExport(ref: $ref) {')
  expect(validate(schema, parse(text))).toEqual([])
  expect(unticked(text, 'me', 'latestExport')).not.toContain('ref')
  const named = ticked(
    'query Mine($first: Int = 2) { me { projectsConnection(first: $first) { totalCount } } }',
    'me',
    'latestExport',
  )
  expect(named).toContain('query Mine($first: Int = 2, $ref: String!) {')
  expect(validate(schema, parse(named))).toEqual([])
  expect(unticked(named, 'me', 'latestExport')).toContain('query Mine($first: Int = 2) {')
})

test('arguments are added and removed one by one', () => {
  const path = pathTo('me', 'projectsConnection')
  const change = (text: string, name: string): string => {
    const edited = read(text)
    const field = selectionAt(edited, path)
    if (field?.kind !== Kind.FIELD) throw new Error('not selected')
    const argument = path.at(-1)?.arguments.find((one) => one.name === name)
    const given = argumentAt(field, name)
    return given ? withoutArgument(edited, field, given) : argument ? withArgument(edited, field, argument) : text
  }
  const one = change('{ me { projectsConnection { totalCount } } }', 'first')
  expect(one).toBe('query($first: Int) { me { projectsConnection(first: $first) { totalCount } } }')
  const two = change(one, 'after')
  expect(two).toBe(
    'query($first: Int, $after: String) { me { projectsConnection(first: $first, after: $after) { totalCount } } }',
  )
  expect(change(two, 'first')).toBe('query($after: String) { me { projectsConnection(after: $after) { totalCount } } }')
  expect(change(change(two, 'first'), 'after')).toBe('query { me { projectsConnection { totalCount } } }')
})

test('comments, aliases, fragments and further operations keep their bytes', () => {
  const text =
    '# mine\nquery A {\n  me { # me\n    other: email\n    ...F\n  } # end\n}\n\nfragment F on User { email }\n'
  const more = ticked(text, 'me', 'projects', 'ref')
  for (const kept of [
    '# mine\n',
    'me { # me\n',
    'other: email\n',
    '...F\n',
    '} # end\n',
    'fragment F on User { email }',
  ]) {
    expect(more).toContain(kept)
  }
  expect(validate(schema, parse(more))).toEqual([])
  expect(unticked(more, 'me', 'projects', 'ref')).toBe(text)
})

test('a variable that a fragment or a directive still uses keeps its definition', () => {
  const fragments = ' fragment F on User { ...G } fragment G on User { latestExport(ref: $ref) { digest } email }'
  for (const [text, after] of [
    [`query($ref: String!) { me { latestExport(ref: $ref) { digest } ...F } }${fragments}`, '{ me { ...F } }'],
    ['query($ref: String!) @skip(if: $ref) { me { latestExport(ref: $ref) { digest } email } }', '{ me { email } }'],
  ] as const) {
    const left = unticked(text, 'me', 'latestExport')
    expect(left).toContain('query($ref: String!)')
    expect(left).toContain(after)
  }
  // A fragment that the operation does not spread keeps nothing.
  const other = `query($ref: String!) { me { latestExport(ref: $ref) { digest } email } }${fragments}`
  expect(unticked(other, 'me', 'latestExport')).toBe(`query { me { email } }${fragments}`)
})

test('a mutation is written beside a query, and each type of an interface is selected separately', () => {
  const text = ticked('{ me { email } }\n', 'login', 'accessToken')
  expect(text).toContain(
    '{ me { email } }\n\nmutation MyMutation($email: String!) {\n  login(email: $email) {\n    acc',
  )
  expect(validate(schema, parse(text))).toEqual([])
  const node = ticked('', 'node', 'Project', 'name')
  expect(node).toContain('query($id: ID!) {\n  node(id: $id) {\n    ... on Project {\n      name')
  expect(validate(schema, parse(node))).toEqual([])
})

test.each([
  ['{ me { email } }', 'query MyQuery { me { email } }\n\nmutation MyMutation('],
  [
    'query($ref: String!) { me { latestExport(ref: $ref) { digest } } }',
    'query MyQuery($ref: String!) { me { latestExport(ref: $ref) { digest } } }\n\nmutation MyMutation(',
  ],
  ['query MyMutation { me { email } }', 'query MyMutation { me { email } }\n\nmutation MyMutation2('],
])('the query %s and a new mutation beside it get different names', (text, begins) => {
  const both = ticked(text, 'login', 'accessToken')
  expect(both.slice(0, begins.length)).toBe(begins)
  expect(validate(schema, parse(both))).toEqual([])
})

test('a new query gets a name beside a mutation, but none beside a fragment', () => {
  const mutation = 'mutation($email: String!) { login(email: $email) { accessToken } }'
  const both = ticked(mutation, 'me', 'email')
  expect(both).toBe(`${mutation.replace('(', ' MyMutation(')}\n\nquery MyQuery {\n  me {\n    email\n  }\n}\n`)
  expect(validate(schema, parse(both))).toEqual([])
  expect(ticked('fragment F on User { email }', 'me', 'email')).toContain('\n\nquery {')
})

test('every field of the schema, three levels deep, can be checked and unchecked', () => {
  let count = 0
  const visitAll = (kind: string, above: readonly Branch[], branches: readonly Branch[]): void => {
    for (const branch of branches) {
      const path = [...above, branch]
      const text = withField(read('', kind), kind, path)
      const errors = validate(schema, parse(text)).map(({ message }) => message)
      expect(errors, text).toEqual([])
      const edited = read(text, kind)
      expect(selectionAt(edited, path), text).not.toBeNull()
      expect(withoutField(edited, path).trim(), text).toBe('')
      count += 1
      if (path.length < 3) visitAll(kind, path, branch.branches())
    }
  }
  for (const kind of ['query', 'mutation']) visitAll(kind, [], rootBranches(schema, kind))
  expect(count).toBeGreaterThan(50)
})

test('readQuery() returns null for a text that is not GraphQL', () => {
  expect(readQuery('{ me {', 'query')).toBeNull()
})

function read(text: string, kind = 'query') {
  const edited = readQuery(text, kind)
  if (!edited) throw new Error(`no GraphQL: ${text}`)
  return edited
}

function kindOf(name: string | undefined): string {
  return rootBranches(schema, 'query').some((branch) => branch.name === name) ? 'query' : 'mutation'
}

function pathTo(...names: readonly string[]): readonly Branch[] {
  let branches = rootBranches(schema, kindOf(names[0]))
  return names.map((name) => {
    const found = branches.find((branch) => branch.name === name)
    if (!found) throw new Error(`no ${name}`)
    branches = found.branches()
    return found
  })
}

function ticked(text: string, ...names: readonly string[]): string {
  const kind = kindOf(names[0])
  return withField(read(text, kind), kind, pathTo(...names))
}

function unticked(text: string, ...names: readonly string[]): string {
  return withoutField(read(text, kindOf(names[0])), pathTo(...names))
}
