// HTTP by hand: sends the exact bytes of a request over a socket, and reads the exact bytes of the answer.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Answer } from './gateway.ts'

export interface WireRequest {
  readonly method?: string
  readonly target?: string
  readonly version?: string
  /** In the order sent; a name may occur twice. `Host: localhost` is added if there is none. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** Sent with its length, unless a header says otherwise. */
  readonly body?: string
}

export function requestText({
  method = 'GET',
  target = '/healthz',
  version = '1.1',
  headers = [],
  body = '',
}: WireRequest): string {
  const has = (name: string) => headers.some(([given]) => given.toLowerCase() === name)
  const hasLength = has('content-length') || has('transfer-encoding')
  const all = [
    ...(has('host') ? [] : [['Host', 'localhost'] as const]),
    ...headers,
    ...(body === '' || hasLength ? [] : [['Content-Length', String(Buffer.byteLength(body))] as const]),
  ]
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `${method} ${target} HTTP/${version}\r\n${head}\r\n${body}`
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''))
  await once(socket, 'connect')
  // Whoever reads or writes is told of the error.
  socket.on('error', () => {})
  return socket
}

/** Reads everything until the gateway closes the connection. Rejects when the connection is reset instead. */
export async function readToEnd(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Sends everything at once. The gateway must close the connection: the request asks for it, or gives a reason to. */
export async function exchange(url: string, request: string | Uint8Array): Promise<Buffer> {
  const socket = await openSocket(url)
  socket.write(request)
  return readToEnd(socket)
}

/**
 * Parses the responses in these bytes. Throws unless they consist of complete responses, each with exactly one way to
 * determine its length (RFC 9112 section 6). `methods` are those of the requests: the answer to a HEAD has no body.
 */
export function readAnswers(bytes: Buffer, methods: readonly string[] = []): readonly Answer[] {
  const answers: Answer[] = []
  const asked = [...methods]
  for (let at = 0; at < bytes.length; ) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd === -1) throw new Error(`not a response: ${excerpt(bytes.subarray(at))}`)
    const [statusLine = '', ...lines] = bytes.subarray(at, headEnd).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) [^\r\n]*$/.exec(statusLine)?.[1])
    if (Number.isNaN(status)) throw new Error(`not a status line: ${excerpt(bytes.subarray(at))}`)
    const headers = new Headers(lines.map((line) => splitHeader(line)))
    const hasBody = status >= 200 && status !== 204 && status !== 304 && asked[0] !== 'HEAD'
    if (status >= 200) asked.shift()
    const { text, end } = hasBody ? readBody(bytes, headEnd + 4, headers) : { text: '', end: headEnd + 4 }
    answers.push({ status, headers, text, json: () => JSON.parse(text) })
    at = end
  }
  return answers
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new Error(`not a header: ${line}`)
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

function readBody(bytes: Buffer, start: number, headers: Headers): { readonly text: string; readonly end: number } {
  const [length, encoding] = [headers.get('content-length'), headers.get('transfer-encoding')]
  if ((length === null) === (encoding === null)) {
    throw new Error(`a body of length ${length} and transfer coding ${encoding}`)
  }
  if (length === null) return readChunks(bytes, start)
  const end = start + Number(length)
  if (!/^\d+$/.test(length) || end > bytes.length) {
    throw new Error(`a body of ${bytes.length - start} bytes, announced as ${length}`)
  }
  return { text: bytes.subarray(start, end).toString(), end }
}

function readChunks(bytes: Buffer, start: number): { readonly text: string; readonly end: number } {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16)
    if (lineEnd === -1 || Number.isNaN(size)) throw new Error(`not a chunk: ${excerpt(bytes.subarray(at))}`)
    const dataEnd = lineEnd + 2 + size
    chunks.push(bytes.subarray(lineEnd + 2, dataEnd))
    at = dataEnd + 2
    if (size === 0) return { text: Buffer.concat(chunks).toString(), end: at }
  }
}

function excerpt(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 200).toString('latin1'))
}
