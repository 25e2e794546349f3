// Tests that GraphiQL's Prettify keeps the comments of a query.
import { expect, test } from 'vitest'
import { examplesFor } from '../../src/explorer/graphiql/examples.ts'
import { prettified } from '../../src/explorer/graphiql/prettified.ts'

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
