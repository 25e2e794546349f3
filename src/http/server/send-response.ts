// A reply as bytes on a connection.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import type { Awaitable } from '../../store/contract.ts'
import { EVERY_RESPONSE, type GatewayResponse } from '../response.ts'
import { writeAndDrain } from './write-and-drain.ts'

/** Of a body that is refused: enough for a client that misjudged the limit, not for one that never ends. */
const MAX_DISCARDED_BYTES = 67_108_864

export function sendResponse(
  reply: GatewayResponse,
  incoming: IncomingMessage,
  response: ServerResponse,
): Awaitable<void> {
  const { status, body } = reply
  if (isStreamed(body)) {
    response.writeHead(status, headerList(reply, null))
    if (incoming.method !== 'HEAD') return stream(body, response)
    response.end()
    return
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const shown = incoming.method === 'HEAD' ? null : bytes
  // What is not read of a request's body would be taken for the next request.
  if (!incoming.complete) response.shouldKeepAlive = false
  response.writeHead(status, headerList(reply, status === 304 || status === 204 ? null : (bytes?.byteLength ?? 0)))
  if (!incoming.complete) return endAfterRequest(shown, incoming, response)
  response.end(shown)
}

/** Closing on a client that is still sending would reset the connection, and the answer would be lost with it. */
async function endAfterRequest(
  bytes: Uint8Array | null,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.flushHeaders()
  if (bytes !== null) response.write(bytes)
  let discarded = 0
  incoming.on('data', (chunk: Buffer) => {
    discarded += chunk.byteLength
    if (discarded > MAX_DISCARDED_BYTES) incoming.destroy()
  })
  await finished(incoming).catch(() => {})
  response.end()
}

async function stream(body: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<void> {
  try {
    for await (const chunk of body) {
      // With as little in memory as a connection takes: the next part is made when this one is gone.
      await writeAndDrain(chunk, response)
      if (response.destroyed) return
    }
    response.end()
  } catch {
    // The status is sent: all that is left is to let the client see that the body is not whole.
    response.destroy()
  }
}

function headerList({ headers, derived }: GatewayResponse, contentLength: number | null): string[] {
  const known = derived?.headerList
  if (known) return known
  const length = contentLength === null ? {} : { 'content-length': String(contentLength) }
  const list = Object.entries({ ...headers, ...length, ...EVERY_RESPONSE }).flat()
  if (derived) derived.headerList = list
  return list
}

function isStreamed(body: GatewayResponse['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
