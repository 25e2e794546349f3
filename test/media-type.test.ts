// Which values of Content-Type count as JSON, for the bodies of requests and for the guard "local".
import { describe, expect, test } from 'vitest'
import { createLocalGuard } from '../src/auth/guards/local.ts'
import { isJsonMediaType } from '../src/media-type.ts'
import { callerWith } from './support/callers.ts'
import { startGateway } from './support/gateway.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

const MEDIA_TYPES: readonly (readonly [contentType: string | undefined, isJson: boolean])[] = [
  ['application/json', true],
  ['Application/JSON', true],
  ['application/json;', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset="UTF-8"', true],
  ['application/json ; charset=utf8', true],
  ['application/json; charset=US-ASCII', true],
  ['application/json; profile=x', true],
  ['application/json; profile="x; charset=utf-16"', true],
  ['application/json; charset=utf-8; profile=x', true],
  ['application/json; charset=utf-16', false],
  ['application/json; profile=x; charset=iso-8859-1', false],
  ['application/json, text/plain', false],
  ['application/json text/plain', false],
  ['application/jsonp', false],
  ['application/problem+json', false],
  ['text/json', false],
  ['text/plain', false],
  ['text/plain; application/json', false],
  ['application/x-www-form-urlencoded', false],
  ['multipart/form-data; boundary=x', false],
  ['json', false],
  ['', false],
  [undefined, false],
]

const LONG: readonly (readonly [what: string, contentType: string])[] = [
  ['spaces', `application/json${' '.repeat(15_000)}x`],
  ['spaces before a parameter', `application/json;${' '.repeat(15_000)}x`],
  ['spaces in a parameter', `application/json; charset=${' '.repeat(15_000)}x`],
  ['semicolons', `application/json${';'.repeat(15_000)}x`],
  ['letters', `application/${'a'.repeat(15_000)}`],
  ['backslashes in a quoted parameter', `application/json; a="${'\\'.repeat(15_000)}`],
]

describe.each([
  ['the reader of bodies', isJsonMediaType],
  ['the guard "local"', isLetIn],
])('%s', (_name, isJson) => {
  test.each(MEDIA_TYPES)('takes %s for JSON: %s', async (contentType, expected) => {
    expect(await isJson(contentType)).toBe(expected)
  })

  test.each(LONG)('refuses 15,000 %s without delay', async (_what, contentType) => {
    const started = performance.now()
    for (let round = 0; round < 20; round += 1) expect(await isJson(contentType)).toBe(false)
    expect(performance.now() - started).toBeLessThan(500)
  })
})

async function isLetIn(contentType: string | undefined): Promise<boolean> {
  const caller = callerWith({ headers: { host: 'localhost', 'content-type': contentType } })
  const guard = createLocalGuard({ trustedOrigins: [] }, null)
  return (await guard.decide({ caller, email: ANA, code: null })).outcome === 'admitted'
}

test('a gateway answers a login and a query whose media type has a parameter', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const headers = { 'content-type': 'application/json; profile="x"' }
  const login = await gateway.send('POST', '/login', JSON.stringify({ email: ANA }), headers)
  expect(login.status).toBe(200)
  const query = await gateway.send('POST', '/graphql', JSON.stringify({ query: '{ __typename }' }), headers)
  expect(query.json()).toEqual({ data: { __typename: 'Query' } })
})
