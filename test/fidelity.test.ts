// Stored JSON comes back byte for byte, over REST and GraphQL.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { documentLine, exportLine } from './support/workspaces.ts'

const EVE = 'eve@example.com'

const TEXTS: readonly (readonly [name: string, value: string])[] = [
  ['integers past 2^53', '[9007199254740993,-9007199254740993,123456789012345678901234567890]'],
  ['a float that is an integer', '1.0'],
  ['a number past every double', '1E400'],
  ['a number below every double', '1e-400'],
  ['negative zero', '-0'],
  ['many digits', '0.1000000000000000055511151231257827021181583404541015625'],
  ['an exponent as it is written', '[1e5,1E5,1e+5,1.50e05]'],
  ['duplicate keys', '{"a":1,"a":2,"b":{"c":1,"c":1}}'],
  ['integer-like keys in their own order', '{"b":1,"2":1,"1":1,"-1":1,"01":1}'],
  ['__proto__ and friends', '{"__proto__":{"x":1},"constructor":1,"toString":2}'],
  ['escapes that need not be', '"\\u0041\\/\\u00e9\\n"'],
  ['U+0000 as an escape', '"a\\u0000b"'],
  ['lone surrogates as escapes', '["\\ud800","\\udc00","\\udc00\\ud800"]'],
  ['a pair as escapes and as itself', '["\\ud83d\\ude00","😀"]'],
  ['line separators', '"\u2028\u2029\u0085\ufeff"'],
  ['white space within', '{ "a" :\t[ 1 ,\r 2 ] }'],
  ['an empty key and empty values', '{"":"","a":{},"b":[]}'],
  ['1,000 levels of nesting', '['.repeat(1_000) + ']'.repeat(1_000)],
  ['1,000 levels of objects', `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`],
  ['brackets and quotes within strings', '"]}\\"{[\\\\"'],
]

/** Stores the value in a document and an export element, and reads it back both ways. */
async function roundTrip(gateway: TestGateway, value: string): Promise<void> {
  const data = `{"id":"p","v":${value}}`
  await gateway.load(
    documentLine('project', EVE, data) +
      documentLine('template', EVE, data) +
      documentLine('uiLibrary', EVE, data) +
      exportLine(EVE, { r: 'p', createdAt: new Date(gateway.now()).toISOString(), elements: [value, data] }),
  )
  gateway.advance(1)
  const { accessToken } = await gateway.login(EVE)
  for (const path of ['/projects', '/templates', '/ui-libraries']) {
    expect((await gateway.get(path, accessToken)).text).toBe(`[${data}]`)
  }
  expect((await gateway.get('/exports?r=p', accessToken)).text).toBe(`[${value},${data}]`)
  const twins = await gateway.graphql(
    '{ me { projects { data } templates { data } uiLibraries { data } latestExport(ref: "p") { data elements { data } } } }',
    { accessToken },
  )
  const list = `[{"data":${data}}]`
  expect(twins.text).toBe(
    `{"data":{"me":{"projects":${list},"templates":${list},"uiLibraries":${list},"latestExport":{"data":[${value},${data}],"elements":[{"data":${value}},{"data":${data}}]}}}}`,
  )
}

test.each(TEXTS)('bytes in are bytes out: %s', async (_name, value) => {
  await roundTrip(await startGateway(), value)
})

test('bytes in are bytes out: any JSON, with any white space', async () => {
  const gateway = await startGateway()
  const space = fc.constantFrom('', ' ', '\t', '  ')
  const value = fc
    .tuple(fc.json({ maxDepth: 6 }), space, space)
    .map(([json, before, after]) => json.replaceAll(',', `${before},${after}`))
    .filter((json) => isJson(json))
  await fc.assert(
    fc.asyncProperty(value, (json) => roundTrip(gateway, json)),
    { numRuns: 60 },
  )
})

test('bytes in are bytes out: a document of 20 MB', async () => {
  const gateway = await startGateway()
  const data = `{"id":"big","v":"${'0123456789é\\u0000'.repeat(1_150_000)}"}`
  expect(Buffer.byteLength(data)).toBeGreaterThan(20_000_000)
  await gateway.load(documentLine('project', EVE, data))
  const { accessToken } = await gateway.login(EVE)
  expect((await gateway.get('/projects', accessToken)).text === `[${data}]`).toBe(true)
  const twin = await gateway.graphql('{ me { projects { documentId data } } }', { accessToken })
  expect(twin.text === `{"data":{"me":{"projects":[{"documentId":"big","data":${data}}]}}}`).toBe(true)
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
