// Takes the coding off the body of an answer: something in front may have coded it, asked or not.
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

/** The coding of a body cannot be taken off. The message is a sentence for an operator. */
export class CodingError extends Error {
  override readonly name = 'CodingError'
}

const DECODERS = new Map<string, (bytes: Buffer) => Promise<Buffer>>([
  ['gzip', promisify<Buffer, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, Buffer>(gunzip)],
  ['br', promisify<Buffer, Buffer>(brotliDecompress)],
  ['deflate', promisify<Buffer, Buffer>(inflate)],
  ['zstd', promisify<Buffer, Buffer>(zstdDecompress)],
])

/** `contentEncoding` names the codings in the order in which they were put on. Throws `CodingError`. */
export async function decodeBody(coded: Buffer, contentEncoding = ''): Promise<Buffer> {
  if (coded.byteLength === 0) return coded
  let bytes = coded
  for (const name of contentEncoding.toLowerCase().split(',').toReversed()) {
    const coding = name.trim()
    if (coding === '' || coding === 'identity') continue
    const decode = DECODERS.get(coding)
    if (!decode) throw new CodingError(`something answers in a coding that is not known: ${coding}`)
    bytes = await decode(bytes).catch(() => {
      throw new CodingError(`something answers with a body that is not in the coding that its header names: ${coding}`)
    })
  }
  return bytes
}
