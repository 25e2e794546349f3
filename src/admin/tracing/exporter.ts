// Exports spans by OTLP over HTTP in batches, outside the request path. When the receiver cannot keep up, spans are
// dropped instead of piling up.
import { setTimeout as delay } from 'node:timers/promises'
import { REQUEST, RESOURCE_SPANS, toJson } from './otlp.ts'
import type { PartialSuccess } from './partial-success.ts'
import { endMessage, putFields, type Written } from './protobuf-writer.ts'
import { createReceiver } from './receiver.ts'
import { resourceFields, scopeFields } from './resource.ts'
import { createSpanWriter, mostBytesOf, type TracedRequest } from './spans.ts'
import type { TraceSettings } from './trace-settings.ts'

/** Size of a batch: more than the spans of 1,024 cache hits take. */
const BATCH_BYTES = 524_288
/** Number of sent batches whose memory is kept for reuse. */
const MAX_SPARE = 4
/** Time limit for sending everything that still waits when the process ends. The supervisor waits no longer. */
const MAX_END_MS = 5_000
/** Tags and lengths of the messages around the spans. */
const AROUND_BYTES = 64

export interface Exporter extends AsyncDisposable {
  readonly add: (traced: TracedRequest) => void
}

/** Spans that are sent together, in wire format, the first one last. */
interface Batch extends Written {
  requests: number
}

/** What spans say about the gateway. */
export interface TracedGateway {
  readonly version: string
  /** Prefix of each route, as the client sees it. */
  readonly basePath: string
}

export interface ExportReport {
  /** Sending has begun to fail, or spans were lost. `lost` is the number of requests affected since the start. */
  readonly onFailure: (error: unknown, lost: number) => void
  /** Spans are sent again. */
  readonly onRecovery: (lost: number) => void
  /** The receiver rejected spans of a batch, or warns about them. The batch is not sent again. */
  readonly onPartialSuccess: (said: PartialSuccess) => void
}

export function createExporter(
  settings: TraceSettings,
  { version, basePath }: TracedGateway,
  { onFailure, onRecovery, onPartialSuccess }: ExportReport,
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
  /** Number of requests whose spans were not sent yet. */
  let queued = 0
  let lost = 0
  let isFailing = false
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()

  /** Spans that arrive while a batch is being retried share one batch instead of starting a new one at each delay. */
  function flushInTime(): void {
    void sending.then(flush)
  }

  function openBatch(): Batch {
    const bytes = spare.pop() ?? Buffer.allocUnsafeSlow(headBytes + BATCH_BYTES)
    return { bytes, start: bytes.byteLength, requests: 0 }
  }

  function lose(requests: number, reason: () => unknown): void {
    lost += requests
    // Builds the error only once: one per lost request would cost more than its spans, while the gateway is already
    // overloaded.
    if (!isFailing) onFailure(reason(), lost)
    isFailing = true
  }

  function recover(): void {
    if (isFailing) onRecovery(lost)
    isFailing = false
  }

  /** Completes an `ExportTraceServiceRequest`. */
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
      const said =
        protocol === 'http/protobuf'
          ? await receiver.post('application/x-protobuf', body)
          : await receiver.post('application/json', Buffer.from(toJson(body)))
      if (said) onPartialSuccess(said)
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
        lose(1, () => new Error('traces come faster than the receiver accepts them'))
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
      // A receiver that accepts connections but never answers would use up its timeout for each batch.
      const isAllSent = await Promise.race([flush().then(() => true), delay(MAX_END_MS, false, { ref: false })])
      isOver = true
      if (!isAllSent)
        lose(queued, () => new Error('the receiver did not accept the last traces before the gateway stopped'))
      receiver[Symbol.dispose]()
    },
  }
}
