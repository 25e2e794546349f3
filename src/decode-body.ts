// Takes the coding off the body of an answer: something in front may have coded it, asked or not.
import { constants } from 'node:buffer'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

/** The coding of a body cannot be taken off. The message is a sentence for an operator. */
export class CodingError extends Error {
  override readonly name = 'CodingError'
}

/** A body is larger than its reader takes. */
export class BodySizeError extends Error {
  override readonly name = 'BodySizeError'
}

/** Of zlib. */
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
 * `contentEncoding` names the codings in the order in which they were put on. Throws `CodingError`, and `BodySizeError` for more than
 * `maxBytes`, before there are more in memory.
 */
export async function decodeBody(
  coded: Buffer,
  contentEncoding = '',
  maxBytes: number = constants.MAX_LENGTH,
): Promise<Buffer> {
  if (coded.byteLength === 0) return coded
  let bytes = coded
  for (const name of contentEncoding.toLowerCase().split(',').toReversed()) {
    const coding = name.trim()
    if (coding === '' || coding === 'identity') continue
    const decode = DECODERS.get(coding)
    if (!decode) throw new CodingError(`something answers in a coding that is not known: ${coding}`)
    bytes = await decode(bytes, { maxOutputLength: maxBytes }).catch((error: unknown) => {
      if (Reflect.get(Object(error), 'code') === 'ERR_BUFFER_TOO_LARGE') {
        throw new BodySizeError(
          `something answers with a body that is larger than ${maxBytes} bytes without its coding`,
        )
      }
      throw new CodingError(`something answers with a body that is not in the coding that its header names: ${coding}`)
    })
  }
  return bytes
}
