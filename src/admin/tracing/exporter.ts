// Spans to a receiver, by OTLP over HTTP: a batch at a time, off the road of requests, and lost rather than kept for ever.
import { setTimeout as delay } from 'node:timers/promises'
import { REQUEST, RESOURCE_SPANS, toJson } from './otlp.ts'
import { endMessage, putFields, type Written } from './protobuf-writer.ts'
import { createReceiver } from './receiver.ts'
import { resourceFields, scopeFields } from './resource.ts'
import { createSpanWriter, mostBytesOf, type TracedRequest } from './spans.ts'
import type { TraceSettings } from './trace-settings.ts'

/** Of a batch: what 1,024 kept replies have, and more. */
const BATCH_BYTES = 524_288
/** Of batches that were sent: their memory is used again. */
const MAX_SPARE = 4
/** For all that waits at the end of the process, which its supervisor does not wait for any longer. */
const MAX_END_MS = 5_000
/** Tags and lengths of the messages around the spans. */
const AROUND_BYTES = 64

export interface Exporter extends AsyncDisposable {
  readonly add: (traced: TracedRequest) => void
}

/** Spans that are sent at once, as they go out, the first one last. */
interface Batch extends Written {
  requests: number
}

/** What spans say of the gateway. */
export interface TracedGateway {
  readonly version: string
  /** Stands before each route, as the client sees it. */
  readonly basePath: string
}

export interface ExportReport {
  /** Sending begins to fail, or spans were lost: of how many requests since the start. */
  readonly onFailure: (error: unknown, lost: number) => void
  /** Spans are sent again. */
  readonly onRecovery: (lost: number) => void
}

export function createExporter(
  settings: TraceSettings,
  { version, basePath }: TracedGateway,
  { onFailure, onRecovery }: ExportReport,
): Exporter {
  const { protocol, resource, delayMs, maxQueued, maxBatch } = settings
  const writeSpans = createSpanWriter(basePath)
  const aboutResource = resourceFields({ 'service.version': version, ...resource })
  const aboutScope = scopeFields(version)
  const headBytes = aboutResource.byteLength + aboutScope.byteLength + AROUND_BYTES
  const ending = new AbortController()
  const receiver = createReceiver(settings, ending.signal)
  const spare: Batch['bytes'][] = []
  let batch: Batch | null = null
  /** Requests whose spans were not sent yet. */
  let queued = 0
  let lost = 0
  let isFailing = false
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()

  /** What comes while a batch is tried again goes into one, not into another each time. */
  function flushInTime(): void {
    void sending.then(flush)
  }

  function openBatch(): Batch {
    const bytes = spare.pop() ?? Buffer.allocUnsafeSlow(headBytes + BATCH_BYTES)
    return { bytes, start: bytes.byteLength, requests: 0 }
  }

  function lose(requests: number, reason: () => unknown): void {
    lost += requests
    // Asked for once: an error of each request that is lost would cost more than its spans, while there is too much to do already.
    if (!isFailing) onFailure(reason(), lost)
    isFailing = true
  }

  function recover(): void {
    if (isFailing) onRecovery(lost)
    isFailing = false
  }

  /** An `ExportTraceServiceRequest`. */
  function complete(spans: Batch): Buffer<ArrayBuffer> {
    const end = spans.bytes.byteLength
    putFields(spans, aboutScope)
    endMessage(spans, RESOURCE_SPANS.scopeSpans, end)
    putFields(spans, aboutResource)
    endMessage(spans, REQUEST.resourceSpans, end)
    return spans.bytes.subarray(spans.start)
  }

  async function send(full: Batch): Promise<void> {
    if (isOver) return
    const lostBefore = lost
    try {
      const body = complete(full)
      if (protocol === 'http/protobuf') await receiver.post('application/x-protobuf', body)
      else await receiver.post('application/json', Buffer.from(toJson(body)))
      if (lost === lostBefore) recover()
    } catch (error) {
      lose(full.requests, () => error)
    } finally {
      queued -= full.requests
      if (spare.length < MAX_SPARE) spare.push(full.bytes)
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
    add(traced) {
      if (queued >= maxQueued) {
        lose(1, () => new Error('they come faster than the receiver takes them'))
        return
      }
      if (batch && batch.start < headBytes + mostBytesOf(traced, basePath)) void flush()
      batch ??= openBatch()
      writeSpans(batch, traced)
      batch.requests += 1
      queued += 1
      if (batch.requests >= maxBatch) void flush()
      else timer ??= setTimeout(flushInTime, delayMs).unref()
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      // A receiver that takes connections and answers nothing would take its time for each batch.
      const isAllSent = await Promise.race([flush().then(() => true), delay(MAX_END_MS, false, { ref: false })])
      isOver = true
      if (!isAllSent) lose(queued, () => new Error('the receiver did not take them before the end'))
      receiver[Symbol.dispose]()
    },
  }
}
