// Decodes the content coding of a response body: a proxy may apply one even if the client did not ask for it.
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { memberOf } from './member-of.ts'

/** A body cannot be decoded. The message is a sentence for an operator. */
export class CodingError extends Error {
  override readonly name = 'CodingError'
}

/** A body is larger than its reader accepts. */
export class BodySizeError extends Error {
  override readonly name = 'BodySizeError'
}

/** The option of zlib that bounds the decoded size, in bytes. */
interface Limit {
  readonly maxOutputLength: number
}

type Decode = (bytes: Buffer, limit: Limit) => Promise<Buffer>

const DECODERS = new Map<string, Decode>([
  ['gzip', promisify<Buffer, Limit, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, Limit, Buffer>(gunzip)],
  ['br', promisify<Buffer, Limit, Buffer>(brotliDecompress)],
  ['deflate', promisify<Buffer, Limit, Buffer>(inflate)],
  ['zstd', promisify<Buffer, Limit, Buffer>(zstdDecompress)],
])

/**
 * `contentEncoding` is the `Content-Encoding` header, which lists the codings in the order in which they were applied
 * (RFC 9110 section 8.4). Throws `CodingError`, or `BodySizeError` before more than `maxBytes` decoded bytes are in
 * memory.
 */
export async function decodeBody(
  coded: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  if (coded.byteLength === 0) return coded
  let bytes = coded
  for (const name of (contentEncoding ?? '').toLowerCase().split(',').toReversed()) {
    const coding = name.trim()
    if (coding === '' || coding === 'identity') continue
    const decode = DECODERS.get(coding)
    if (!decode) throw new CodingError(`something answers, but with an unknown content coding: ${coding}`)
    bytes = await decode(bytes, { maxOutputLength: maxBytes }).catch((error: unknown) => {
      if (memberOf(error, 'code') === 'ERR_BUFFER_TOO_LARGE') {
        throw new BodySizeError(`something answers, but its decoded body is larger than ${maxBytes} bytes`)
      }
      throw new CodingError(`something answers, but its body does not match its content coding: ${coding}`)
    })
  }
  return bytes
}
