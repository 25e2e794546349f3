// Sends single requests outside the load.
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { fillIn, type LoadRequest } from '../load/plan.ts'

/** Asks for the identity coding, because `fetch` asks for compression by default. */
export function ask(url: string, request: LoadRequest, values: Readonly<Record<string, string>>): Promise<Response> {
  const { method, path, headers, body } = fillIn(request, values)
  const plain = { ...headers, 'accept-encoding': 'identity' }
  return fetch(`${url}${path}`, { method, headers: plain, ...(body === undefined ? {} : { body }) })
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The body as it came over the wire. */
  readonly bytes: Buffer
}

/** Sends only the headers of the request. */
export function askRaw(
  url: string,
  request: LoadRequest,
  values: Readonly<Record<string, string>>,
): Promise<RawAnswer> {
  const { method, path, headers, body } = fillIn(request, values)
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const outgoing = httpRequest(`${url}${path}`, { method, headers: { ...headers, ...length } })
  outgoing.on('error', reject)
  outgoing.on('response', (incoming) => {
    const { statusCode = 0, headers: answered } = incoming
    buffer(incoming).then((bytes) => resolve({ status: statusCode, headers: answered, bytes }), reject)
  })
  outgoing.end(body)
  return promise
}
