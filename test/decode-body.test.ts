// Tests how the doctor and the conformance check decode the body of another server, within a bound.
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { BodySizeError, CodingError, decodeBody } from '../src/decode-body.ts'

const TEXT = '[{"id":"p1"}]'

test.each<[coding: string | undefined, coded: Buffer]>([
  [undefined, Buffer.from(TEXT)],
  ['', Buffer.from(TEXT)],
  ['identity', Buffer.from(TEXT)],
  ['gzip', gzipSync(TEXT)],
  ['X-GZip', gzipSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['zstd', zstdCompressSync(TEXT)],
  ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
  ['br ,identity, gzip', gzipSync(brotliCompressSync(TEXT))],
])('a body in the coding %s is decoded', async (coding, coded) => {
  expect(String(await decodeBody(coded, coding, 1_000))).toBe(TEXT)
})

test('an answer to HEAD names the coding of a body that it does not have', async () => {
  expect(await decodeBody(Buffer.alloc(0), 'gzip', 1_000)).toHaveLength(0)
})

test.each([
  ['larger than the bound', 'gzip', gzipSync(Buffer.alloc(1_001)), BodySizeError],
  ['larger than the bound before its last coding is removed', 'br, gzip', gzipSync(Buffer.alloc(1_001)), BodySizeError],
  ['in an unknown coding', 'gzip, own', gzipSync(TEXT), CodingError],
  ['in another coding than its header says', 'br', gzipSync(TEXT), CodingError],
])('a body is refused that is %s', async (_, coding, coded, error) => {
  await expect(decodeBody(coded, coding, 1_000)).rejects.toThrow(error)
})
