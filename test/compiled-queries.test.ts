import { getIntrospectionQuery } from 'graphql'
import { expect, test } from 'vitest'
import { createCompiledQueries } from '../src/graphql/execution/compiled-queries.ts'
import { createSchema } from '../src/graphql/schema.ts'

const schema = createSchema()

/** 2^depth fields, in a few hundred bytes. */
function multiplied(depth: number): string {
  const levels = Array.from(
    { length: depth },
    (_, at) => `fragment F${at} on __Type { a: ofType { ...F${at + 1} } b: ofType { ...F${at + 1} } }`,
  )
  return `{ __type(name: "User") { ...F0 } } ${levels.join(' ')} fragment F${depth} on __Type { name }`
}

test('a query of a moderate size is compiled, once', () => {
  const queries = createCompiledQueries(schema)
  for (const query of ['{ me { email } }', multiplied(6), getIntrospectionQuery()]) {
    const compiled = queries.get(query, undefined)
    expect(compiled, query).not.toBeNull()
    expect(queries.get(query, undefined)).toBe(compiled)
  }
})

test('a query whose fragments expand to more than 1,000 fields is not compiled', () => {
  const queries = createCompiledQueries(schema)
  const started = performance.now()
  for (const depth of [10, 13, 60]) expect(queries.get(multiplied(depth), undefined), String(depth)).toBeNull()
  const aliases = Array.from({ length: 100 }, (_, at) => `a${at}: __type(name: "User") { ...F }`)
  const wide = `{ ${aliases.join(' ')} } fragment F on __Type { ${'name kind description '.repeat(4)} }`
  expect(queries.get(wide, undefined)).toBeNull()
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('no two requests share a key: a name and a text are not another text', () => {
  const queries = createCompiledQueries(schema)
  // A query begins with a line break in many a template literal.
  expect(queries.get('  { me { email } }', '')).toBeNull()
  expect(queries.get('\n  { me { email } }', undefined)).not.toBeNull()
  expect(queries.get('#Home\n{ me { email } }', undefined)).not.toBeNull()
  expect(queries.get('{ me { email } }', '#Home')).toBeNull()
})

test('a query in use stays compiled, whatever else is asked in between', () => {
  const queries = createCompiledQueries(schema)
  const hot = queries.get('{ me { email } }', undefined)
  for (let at = 0; at < 2_100; at += 1) queries.get(`{ nothing${at} }`, undefined)
  expect(queries.get('{ me { email } }', undefined)).toBe(hot)
})

test('what is compiled is kept up to a number of fields, the least recently used goes first', () => {
  const queries = createCompiledQueries(schema)
  const ask = (at: number) => queries.get(`query Q${at} ${multiplied(8)}`, undefined)
  const [first, second] = [ask(0), ask(1)]
  for (let at = 2; at < 32; at += 1) {
    ask(at)
    expect(ask(0)).toBe(first)
  }
  for (let at = 32; at < 42; at += 1) {
    ask(at)
    expect(ask(0)).toBe(first)
  }
  expect(ask(1)).not.toBe(second)
})
