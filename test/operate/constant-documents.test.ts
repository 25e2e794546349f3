// Tests the documents that describe the API: they are the same for everybody, complete, compressed, and sent only when
// they are new.
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

const SCHEMA = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
const CODINGS = [
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
  ['zstd', zstdDecompressSync],
] as const

test('everybody can fetch the schema, as it is in the repository', async () => {
  const gateway = await startGateway({ graphqlValues: { introspection: 'signed-in' } })
  const { status, headers, text } = await gateway.get('/schema.graphql')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(text).toBe(SCHEMA)
  expect(buildSchema(text).getQueryType()?.name).toBe('Query')
  const head = await fetch(`${gateway.url}/schema.graphql`, { method: 'HEAD' })
  expect([head.status, head.headers.get('etag')]).toEqual([200, headers.get('etag')])
  expect((await gateway.get('/')).json().schema).toBe('/schema.graphql')
})

test('the schema cannot be fetched with --introspection nobody', async () => {
  const gateway = await startGateway({ graphqlValues: { introspection: 'nobody' } })
  expect((await gateway.get('/schema.graphql')).status).toBe(404)
  expect((await gateway.get('/')).json()).not.toHaveProperty('schema')
})

test.each(['/schema.graphql', '/openapi.json'])(
  '%s is compressed, and a client that has it gets a 304',
  async (path) => {
    const gateway = await startGateway()
    const plain = await fetchRaw(gateway.url + path, {})
    expect(plain.headers.vary).toBe('Accept-Encoding')
    for (const [coding, decompress] of CODINGS) {
      const coded = await fetchRaw(gateway.url + path, { 'accept-encoding': coding })
      expect(coded.headers['content-encoding']).toBe(coding)
      expect(coded.headers.etag).not.toBe(plain.headers.etag)
      expect(coded.body.byteLength).toBeLessThan(plain.body.byteLength / 2)
      expect(decompress(coded.body).equals(plain.body)).toBe(true)
      const known = { 'accept-encoding': coding, 'if-none-match': coded.headers.etag ?? '' }
      const again = await fetchRaw(gateway.url + path, known)
      expect([again.status, again.headers.etag, again.body.byteLength]).toEqual([304, coded.headers.etag, 0])
      expect([again.headers['cache-control'], again.headers.vary]).toEqual(['no-cache', 'Accept-Encoding'])
      expect(again.headers).not.toHaveProperty('content-type')
    }
    expect((await fetchRaw(gateway.url + path, { 'if-none-match': plain.headers.etag ?? '' })).status).toBe(304)
    expect((await fetchRaw(gateway.url + path, { 'if-none-match': '"other"' })).status).toBe(200)
    expect((await fetchRaw(gateway.url + path, { 'accept-encoding': 'identity;q=0' })).status).toBe(406)
  },
)

/** Requests without `fetch`, because that would decode the body. */
async function fetchRaw(url: string, headers: Readonly<Record<string, string>>) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  get(url, { headers }, resolve).once('error', reject)
  const response = await promise
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}
