// Reads over node:http, which adds no header and decodes no content coding.
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As they came over the wire. */
  readonly bytes: Buffer
  /** The body without its coding. */
  readonly text: string
}

export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
}

/** Resolves with the head of the answer; the caller reads the body. */
export function openRead(
  url: string,
  { method = 'GET', headers = {}, body }: RawRequest = {},
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const outgoing = request(url, { method, headers: { ...length, ...headers }, agent: false })
  outgoing.on('response', resolve)
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

/** Rejects when the body breaks off. */
export async function rawRead(url: string, options: RawRequest = {}): Promise<RawAnswer> {
  const incoming = await openRead(url, options)
  const bytes = await buffer(incoming)
  const coding = incoming.headers['content-encoding']
  const decode = coding === undefined || bytes.byteLength === 0 ? undefined : DECODERS[coding]
  const text = (decode ? decode(bytes) : bytes).toString()
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text }
}
