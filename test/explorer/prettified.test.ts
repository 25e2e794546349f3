// Tests that GraphiQL's Prettify and Merge lose nothing of what was written.
import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { examplesFor } from '../../src/explorer/graphiql/examples.ts'
import { merged } from '../../src/explorer/graphiql/rewriting/merged.ts'
import { prettified, prettifiedJson } from '../../src/explorer/graphiql/rewriting/prettified.ts'

test('a prettified query has its comments beside or above what they are about', () => {
  const written = `# who asks
query Mine { me { email # for mails
 # the rest follows
 } }   # so far

# every part
fragment Part on Project { files(first: 1 # one
 after: "x" # from here
) { path } }
# done`
  const pretty = `# who asks
query Mine {
  me {
    email # for mails
    # the rest follows
  }
} # so far

# every part
fragment Part on Project {
  files(first: 1, after: "x") { # one
    # from here
    path
  }
}
# done`
  expect(prettified(written)).toBe(pretty)
  expect(prettified(pretty)).toBe(pretty)
})

test('a query without comments is printed as GraphQL prints it, and one with an error is refused', () => {
  expect(prettified('query{me{email,name}}')).toBe('{\n  me {\n    email\n    name\n  }\n}')
  expect(() => prettified('{ me { # open')).toThrow('Syntax Error')
})

test('a query stays as it is if a comment would get into a string', () => {
  const written = '{ a(x: 1 # number\n y: """\nsome\nlines\n""") }'
  expect(prettified(written)).toBe(written)
})

test('the examples are pretty', () => {
  for (const { query } of examplesFor('ana@example.com', 'site')) expect(prettified(query)).toBe(query.trimEnd())
})

test('prettified variables keep every number, escape and name as it was typed', () => {
  expect(prettifiedJson('{"a":1e400,"b":[12345678901234567890,1.0,{}],"c":"\\u00e9","c":-0}')).toBe(`{
  "a": 1e400,
  "b": [
    12345678901234567890,
    1.0,
    {}
  ],
  "c": "\\u00e9",
  "c": -0
}`)
  for (const text of ['', ' ', '{"a":', '{} {}']) expect(prettifiedJson(text)).toBe(text)
})

test('fragments are merged if nothing gets lost, and otherwise a sentence says what would', () => {
  const schema = buildSchema('type Query { me: User } type User { id: ID email: String }')
  const fragment = 'fragment F on User { email }'
  expect(merged(`{ me { id ...F } } ${fragment}`, schema)).toBe('{\n  me {\n    id\n    email\n  }\n}')
  expect(() => merged(`{ me { ...F } } ${fragment} # why`, schema)).toThrow('the comments of the query would be lost')
  expect(() => merged(`{ me { ...F @skip(if: true) } } ${fragment}`, schema)).toThrow('a directive where a fragment is')
  expect(() => merged(`{ me { id } } ${fragment}`, schema)).toThrow('the fragment F, which is not used, would be lost')
  expect(() => merged('{ me { ...F } } fragment F on User { ...F }', schema)).toThrow('may contain itself')
  expect(() => merged('{ me { ...F', schema)).toThrow('Syntax Error')
})
