// The request log of serve: written to stderr, a batch of lines at a time.
import cluster from 'node:cluster'
import type { Writable } from 'node:stream'
import type { Logger } from 'pino'
import { createJsonLine, formatPretty } from '../../admin/request-log/line.ts'
import { createRequestLog, type RequestLog } from '../../admin/request-log/request-log.ts'
import type { CommandIo } from '../io.ts'
import type { ServeConfig } from '../options/serve-options.ts'

/** How long a line waits for others. What a process that is killed loses at most. */
const FLUSH_MS = 100
/** What is written at once; of workers that share a pipe, what does not tear each other's lines (PIPE_BUF). */
const BATCH_BYTES = 65_536
const WORKER_BATCH_BYTES = 4_096

type AccessLogConfig = Pick<ServeConfig, 'accessLog' | 'accessLogSample' | 'logLevel'>

/** Null with `--log-level silent`. Disposing writes what waits. */
export function openAccessLog(
  { accessLog, accessLogSample, logLevel }: AccessLogConfig,
  salt: string,
  { stderr, isTerminal, clock }: CommandIo,
  log: Logger,
): RequestLog | null {
  if (logLevel === 'silent') return null
  const isPretty = accessLog === 'pretty' || (accessLog !== 'json' && isTerminal)
  const lines = openLines(stderr, cluster.isWorker ? WORKER_BATCH_BYTES : BATCH_BYTES)
  const requests = createRequestLog({
    sampleEvery: accessLog === 'off' ? 0 : accessLogSample,
    format: isPretty ? formatPretty : createJsonLine(),
    salt,
    clock,
    write: lines.write,
    onLeftOut: (status, count) =>
      log.warn({ status, leftOut: count }, 'requests were refused too often for a line each'),
  })
  return {
    observe: requests.observe,
    [Symbol.dispose]() {
      requests[Symbol.dispose]()
      lines[Symbol.dispose]()
    },
  }
}

interface Lines extends Disposable {
  readonly write: (line: string) => void
}

/** Lines are ASCII. */
function openLines(stream: Writable, batchBytes: number): Lines {
  let batch: Buffer | null = null
  let byteLength = 0
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (batch) stream.write(batch.subarray(0, byteLength))
    batch = null
    byteLength = 0
  }

  return {
    write(line) {
      if (byteLength + line.length > batchBytes) flush()
      batch ??= Buffer.allocUnsafeSlow(Math.max(batchBytes, line.length))
      // As bytes at once: a text that was put together of pieces is many objects, and whatever waits is gone through by
      // each collection of garbage.
      byteLength += batch.write(line, byteLength, 'latin1')
      timer ??= setTimeout(flush, FLUSH_MS)
    },
    [Symbol.dispose]: flush,
  }
}
