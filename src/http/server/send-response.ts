// Sends a reply on a connection: at the client's pace, within the write timeout and the in-flight memory budget.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Awaitable } from '../../store/contract.ts'
import type { InFlightBytes } from '../limits/in-flight-bytes.ts'
import { createRoundRobin, ONE_A_TURN } from '../limits/round-robin-scheduler.ts'
import { createSharedBodies } from '../limits/shared-bodies.ts'
import { createTurnQuota } from '../limits/turn-quota.ts'
import { REQUEST_ID_HEADER } from '../request-id.ts'
import { EVERY_RESPONSE, type GatewayResponse } from '../response.ts'
import { brokenOff, hasLeft, type Progress, type ReportBrokenOff, watchForBreak } from './broken-off.ts'
import { closeAfter } from './pipelining.ts'
import { createSendDeadlines, SLICE_BYTES } from './send-deadline.ts'
import { whenClosed } from './when-closed.ts'
import { writeAndDrain } from './write-and-drain.ts'

/**
 * Maximum size of an unread request body that is discarded: enough for a client that misjudged the limit, but not for
 * an endless body.
 */
const MAX_DISCARDED_BYTES = 67_108_864
/**
 * Silence that ends the discarding. node:http reports a request that takes too long only once, and that may have been
 * while it was exempt.
 */
const DISCARD_SILENCE_MS = 30_000
/**
 * Every write counts as at least this many bytes: a one-byte write takes as long, and hundreds of clients may wait for
 * the same byte.
 */
const MIN_WRITE_BYTES = 8_192
/** Memory that a streamed body holds at a time: one page of its source. */
const STREAM_BYTES = 131_072

export interface SendOptions {
  readonly inFlight: InFlightBytes
  /** Milliseconds that a client may take for 64 KiB of a body, or for the whole of a smaller one. */
  readonly sendTimeoutMs: number
  readonly reportBrokenOff: ReportBrokenOff
}

/**
 * Sends a reply and returns how many bytes of the body were handed to the connection, once nothing more is written.
 * Throws `UNAVAILABLE`, before sending anything, when there is no room for the body.
 */
export type SendResponse = (
  reply: GatewayResponse,
  incoming: IncomingMessage,
  response: ServerResponse,
  requestId: string | null,
) => Awaitable<number>

export function createSender({ inFlight, sendTimeoutMs, reportBrokenOff }: SendOptions): SendResponse {
  const holdBody = createSharedBodies(inFlight)
  const paceWriting = createTurnQuota(createRoundRobin(ONE_A_TURN), { minBytes: MIN_WRITE_BYTES })
  const startDeadline = createSendDeadlines(sendTimeoutMs)

  /** Ends the response. What is still buffered gets one more write timeout. */
  function end(
    bytes: Uint8Array | null,
    incoming: IncomingMessage,
    response: ServerResponse,
    known?: Progress,
  ): number {
    response.end(bytes)
    const byteLength = bytes?.byteLength ?? known?.sentBytes ?? 0
    if (response.writableLength === 0) return byteLength
    const progress = known ?? watchForBreak(incoming, response, reportBrokenOff)
    const stop = startDeadline(response, () => {
      progress.reason = 'stalled'
    })
    response.once('close', stop)
    return byteLength
  }

  async function write(bytes: Uint8Array, response: ServerResponse, progress: Progress): Promise<void> {
    for (let at = 0; at < bytes.byteLength && !response.destroyed; at += SLICE_BYTES) {
      const slice = bytes.subarray(at, at + SLICE_BYTES)
      // Without pacing, all that the kernel accepts at once would be written in one turn, for all clients together.
      await paceWriting(slice.byteLength)
      const written = writeAndDrain(slice, response)
      const stop = startDeadline(response, () => {
        progress.reason = 'stalled'
      })
      await written
      stop()
      if (!response.destroyed) progress.sentBytes += slice.byteLength
    }
  }

  async function sendLarge(bytes: Uint8Array, incoming: IncomingMessage, response: ServerResponse): Promise<number> {
    const progress = watchForBreak(incoming, response, reportBrokenOff)
    await write(bytes, response, progress)
    if (!response.destroyed) end(null, incoming, response, progress)
    return progress.sentBytes
  }

  async function stream(
    body: AsyncIterable<Uint8Array>,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<number> {
    const progress = watchForBreak(incoming, response, reportBrokenOff)
    try {
      for await (const chunk of body) {
        // The next chunk is produced only when this one has drained, so the connection holds as little memory as
        // possible.
        await write(chunk, response, progress)
        if (response.destroyed) return progress.sentBytes
      }
      end(null, incoming, response, progress)
    } catch (error) {
      // The status is already sent, so closing the connection is the only way to show the client that the body is
      // incomplete. Without a length or chunks, as in HTTP/1.0, a regular end would mean that it is complete (RFC 9112
      // section 6.3), so the connection is reset.
      progress.reason = 'failed'
      progress.error = error
      if (incoming.httpVersionMinor === 0) response.socket?.resetAndDestroy()
      response.destroy()
    }
    return progress.sentBytes
  }

  /**
   * Closing the connection while the client is still sending would reset it and lose the answer. A client that closes
   * the connection after reading the answer has not left early.
   */
  function endAfterRequest(bytes: Uint8Array | null, incoming: IncomingMessage, response: ServerResponse): number {
    response.flushHeaders()
    if (bytes !== null) response.write(bytes)
    discardBody(incoming)
    const timer = setTimeout(() => incoming.destroy(), DISCARD_SILENCE_MS)
    incoming.on('data', () => timer.refresh())
    const endNow = () => {
      clearTimeout(timer)
      end(null, incoming, response)
    }
    void finished(incoming).then(endNow, endNow)
    return bytes?.byteLength ?? 0
  }

  /** One turn later, a body that came together with its head has been parsed, and the connection can be kept alive. */
  async function sendWholeLater(...parts: Parameters<typeof sendWhole>): Promise<number> {
    await nextTurn()
    return sendWhole(...parts)
  }

  function sendWhole(
    reply: GatewayResponse,
    bytes: Uint8Array | null,
    incoming: IncomingMessage,
    response: ServerResponse,
    requestId: string | null,
  ): Awaitable<number> {
    const shown = incoming.method === 'HEAD' ? null : bytes
    const isLarge = shown !== null && shown.byteLength > SLICE_BYTES
    if (isLarge) releaseAfter(response, holdBody(shown))
    // The unread rest of a request body would be parsed as the next request.
    if (!incoming.complete) closeAfter(incoming, response)
    const hasLength = reply.status !== 304 && reply.status !== 204
    writeHead(reply, hasLength ? (bytes?.byteLength ?? 0) : null, response, requestId)
    if (!incoming.complete) return endAfterRequest(shown, incoming, response)
    if (isLarge) return sendLarge(shown, incoming, response)
    return end(shown, incoming, response)
  }

  return (reply, incoming, response, requestId) => {
    const { status, body, held } = reply
    if (held) releaseAfter(response, held)
    if (hasLeft(incoming, response)) {
      reportBrokenOff(brokenOff(incoming, { statusCode: status }, { sentBytes: 0, reason: 'left' }))
      return 0
    }
    if (!isStreamed(body)) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      return (incoming.complete ? sendWhole : sendWholeLater)(reply, bytes, incoming, response, requestId)
    }
    const isShown = incoming.method !== 'HEAD'
    if (isShown) {
      const reservation = inFlight.open(0)
      reservation.require(STREAM_BYTES)
      releaseAfter(response, reservation)
    }
    writeHead(reply, null, response, requestId)
    // Nothing reads the body of a GET. Unread chunks would stay in memory as long as the answer is being sent.
    if (incoming.method === 'GET' && !incoming.complete) discardBody(incoming)
    if (isShown) return stream(body, incoming, response)
    return end(null, incoming, response)
  }
}

function discardBody(incoming: IncomingMessage): void {
  let discarded = 0
  incoming.on('data', (chunk: Buffer) => {
    discarded += chunk.byteLength
    if (discarded > MAX_DISCARDED_BYTES) incoming.destroy()
  })
}

function releaseAfter(response: ServerResponse, held: Disposable): void {
  whenClosed(response, () => held[Symbol.dispose]())
}

/**
 * The request id leaves the list of a cached reply right after node:http has read it: an id is a slice of a long string
 * and would keep all of it in memory.
 */
function writeHead(
  reply: GatewayResponse,
  contentLength: number | null,
  response: ServerResponse,
  requestId: string | null,
): void {
  const list = repeatedHeaders(reply, contentLength)
  if (requestId === null) {
    response.writeHead(reply.status, list)
    return
  }
  list.push(REQUEST_ID_HEADER, requestId)
  response.writeHead(reply.status, list)
  list.length -= 2
}

/** Returns the header list of the reply, which is the same each time the reply is sent. */
function repeatedHeaders({ headers, derived }: GatewayResponse, contentLength: number | null): string[] {
  const known = derived?.headerList
  if (known) return known
  const list: string[] = []
  for (const name in headers) {
    if (contentLength === null || name !== 'content-length') list.push(name, headers[name] ?? '')
  }
  if (contentLength !== null) list.push('content-length', String(contentLength))
  for (const name in EVERY_RESPONSE) list.push(name, EVERY_RESPONSE[name] ?? '')
  if (derived) derived.headerList = list
  return list
}

function isStreamed(body: GatewayResponse['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
