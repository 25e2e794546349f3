// Spans to a receiver, by OTLP over HTTP: a batch at a time, off the road of requests, and lost rather than kept for ever.
import { toProtobuf } from './protobuf.ts'
import type { TraceSettings } from './trace-settings.ts'

/** Requests whose spans are sent at once. */
const MAX_BATCH = 512

export interface Exporter extends AsyncDisposable {
  /** Spans of a request, as JSON separated by commas. */
  readonly add: (spans: string) => void
}

/** `onFailure` is told when sending begins to fail, and when spans were lost, with of how many requests. */
export function createExporter(
  { url, headers, protocol, timeoutMs, resource, delayMs, maxQueued }: TraceSettings,
  version: string,
  onFailure: (error: unknown, lost: number) => void,
): Exporter {
  const opening = `{"resourceSpans":[{"resource":{"attributes":${attributes({ ...resource, 'service.version': version })}},"scopeSpans":[{"scope":${JSON.stringify({ name: 'workspace-gateway', version })},"spans":[`
  let queue: string[] = []
  let lost = 0
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()

  async function send(batch: readonly string[]): Promise<void> {
    try {
      const json = `${opening}${batch.join(',')}]}]}]}`
      const isBinary = protocol === 'http/protobuf'
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': isBinary ? 'application/x-protobuf' : 'application/json' },
        body: isBinary ? toProtobuf(json) : json,
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`the receiver answered ${response.status}`)
      isFailing = false
    } catch (error) {
      lost += batch.length
      if (!isFailing) onFailure(error, lost)
      isFailing = true
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const batch = queue
    queue = []
    if (batch.length > 0) sending = sending.then(() => send(batch))
    return sending
  }

  return {
    add(spans) {
      if (queue.length >= maxQueued) {
        lost += 1
        return
      }
      queue.push(spans)
      if (queue.length === MAX_BATCH) void flush()
      else timer ??= setTimeout(flush, delayMs).unref()
    },
    async [Symbol.asyncDispose]() {
      await flush()
    },
  }
}

function attributes(values: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } })))
}
