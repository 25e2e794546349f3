// Spans to a receiver, by OTLP over HTTP: a batch at a time, off the road of requests, and lost rather than kept for ever.
import { toProtobuf } from './protobuf.ts'
import { createReceiver } from './receiver.ts'
import type { TraceSettings } from './trace-settings.ts'

/** Requests whose spans are sent at once. */
const MAX_BATCH = 512
/** Of a batch: what so many requests have, and more. */
const BATCH_BYTES = 1_048_576
/** Of batches that were sent: their memory is used again. */
const MAX_SPARE = 4
const CLOSING = ']}]}]}'
const COMMA = 0x2c

export interface Exporter extends AsyncDisposable {
  /** Spans of a request, as JSON separated by commas; ASCII. */
  readonly add: (spans: string) => void
}

/** What is sent at once, as it goes out. */
interface Batch {
  readonly bytes: Buffer<ArrayBuffer>
  byteLength: number
  requests: number
}

/** `onFailure` is told when sending begins to fail, and when spans were lost, with of how many requests. */
export function createExporter(
  { url, headers, protocol, timeoutMs, resource, delayMs, maxQueued }: TraceSettings,
  version: string,
  onFailure: (error: unknown, lost: number) => void,
): Exporter {
  const opening = Buffer.from(
    `{"resourceSpans":[{"resource":{"attributes":${attributes({ ...resource, 'service.version': version })}},"scopeSpans":[{"scope":${JSON.stringify({ name: 'workspace-gateway', version })},"spans":[`,
  )
  const room = BATCH_BYTES - opening.byteLength - CLOSING.length
  const receiver = createReceiver(url, headers, timeoutMs)
  const spare: Buffer<ArrayBuffer>[] = []
  let batch: Batch | null = null
  /** Requests whose spans were not sent yet. */
  let queued = 0
  let lost = 0
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()

  function openBatch(): Batch {
    const bytes = spare.pop() ?? Buffer.allocUnsafeSlow(BATCH_BYTES)
    return { bytes, byteLength: opening.copy(bytes), requests: 0 }
  }

  function lose(requests: number, reason: unknown): void {
    lost += requests
    if (!isFailing) onFailure(reason, lost)
    isFailing = true
  }

  async function send({ bytes, byteLength, requests }: Batch): Promise<void> {
    const lostBefore = lost
    try {
      const json = bytes.subarray(0, byteLength + bytes.write(CLOSING, byteLength))
      const isBinary = protocol === 'http/protobuf'
      await receiver.post(
        isBinary ? 'application/x-protobuf' : 'application/json',
        isBinary ? toProtobuf(json.toString()) : json,
      )
      if (lost === lostBefore) isFailing = false
    } catch (error) {
      lose(requests, error)
    } finally {
      queued -= requests
      if (spare.length < MAX_SPARE) spare.push(bytes)
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const full = batch
    batch = null
    if (full) sending = sending.then(() => send(full))
    return sending
  }

  return {
    add(spans) {
      if (queued >= maxQueued || spans.length > room) {
        lose(1, new Error('they come faster than the receiver takes them'))
        return
      }
      if (batch && batch.byteLength + 1 + spans.length + CLOSING.length > BATCH_BYTES) void flush()
      batch ??= openBatch()
      if (batch.requests > 0) batch.bytes[batch.byteLength++] = COMMA
      // As bytes at once: a text that was put together of pieces is many objects, and whatever waits is gone through by
      // each collection of garbage.
      batch.byteLength += batch.bytes.write(spans, batch.byteLength, 'latin1')
      batch.requests += 1
      queued += 1
      if (batch.requests === MAX_BATCH) void flush()
      else timer ??= setTimeout(flush, delayMs).unref()
    },
    async [Symbol.asyncDispose]() {
      await flush()
      receiver[Symbol.dispose]()
    },
  }
}

function attributes(values: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } })))
}
