// Compresses response bodies with zlib, which runs on its own threads.
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  type ZlibOptions,
  zstdCompress,
} from 'node:zlib'
import type { Coding } from '../negotiation/content-coding.ts'
import { writeAndDrain } from '../server/write-and-drain.ts'

/** Fast levels, because the first request waits for the compression. */
const GZIP: ZlibOptions = { level: 1 }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

/** Size of the chunks that a compression stream emits. */
const CHUNK = { chunkSize: 65_536 }

const [gzipWhole, brotliWhole, zstdWhole] = [promisify(gzip), promisify(brotliCompress), promisify(zstdCompress)]

interface Compressor {
  /** Measured memory of a stream besides its input and output. */
  readonly streamBytes: number
  readonly whole: (bytes: Uint8Array) => Promise<Uint8Array>
  readonly stream: () => Transform
}

const SMALL_BYTES = 8_192
const SMALL_GZIP: ZlibOptions = { ...GZIP, windowBits: 13, memLevel: 6 }

/** Uses tables no larger than the input needs: allocating larger ones takes longer than compressing a small reply. */
const COMPRESSORS: Readonly<Record<Coding, Compressor>> = {
  gzip: {
    streamBytes: 1_048_576,
    whole: (bytes) => gzipWhole(bytes, bytes.byteLength <= SMALL_BYTES ? SMALL_GZIP : GZIP),
    stream: () => createGzip({ ...GZIP, ...CHUNK }),
  },
  br: {
    streamBytes: 3_670_016,
    whole: (bytes) =>
      brotliWhole(bytes, { params: { ...BROTLI.params, [constants.BROTLI_PARAM_LGWIN]: windowOf(bytes) } }),
    stream: () => createBrotliCompress({ ...BROTLI, ...CHUNK }),
  },
  zstd: {
    streamBytes: 3_670_016,
    whole: (bytes) => zstdWhole(bytes, { ...ZSTD, pledgedSrcSize: bytes.byteLength }),
    stream: () => createZstdCompress({ ...ZSTD, ...CHUNK }),
  },
}

/** The smallest window that holds the whole input, as the exponent of a power of two. */
function windowOf({ byteLength }: Uint8Array): number {
  const bits = Math.ceil(Math.log2(byteLength + 1))
  return Math.min(constants.BROTLI_DEFAULT_WINDOW, Math.max(constants.BROTLI_MIN_WINDOW_BITS, bits))
}

export function compressWhole(bytes: Uint8Array, coding: Coding): Promise<Uint8Array> {
  return COMPRESSORS[coding].whole(bytes)
}

/** Memory in bytes that one `compressParts` call needs. */
export function compressorBytes(coding: Coding): number {
  return COMPRESSORS[coding].streamBytes
}

/** Compresses `parts` and yields the output as it becomes available. Consumes each part before it asks for the next. */
export async function* compressParts(parts: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const compressor = COMPRESSORS[coding].stream()
  const feeding = feed(parts, compressor)
  feeding.catch((error: Error) => compressor.destroy(error))
  try {
    yield* compressor as AsyncIterable<Uint8Array>
  } finally {
    compressor.destroy()
    await feeding.catch(() => {})
  }
}

async function feed(parts: AsyncIterable<Uint8Array>, compressor: Transform): Promise<void> {
  for await (const part of parts) {
    await writeAndDrain(part, compressor)
    if (compressor.destroyed) return
  }
  compressor.end()
}
