// Writes the request log of `serve` to stderr, in batches of lines.
import cluster from 'node:cluster'
import type { Logger } from 'pino'
import { createJsonLine, createPrettyLine } from '../../admin/request-log/line.ts'
import { type LineBytes, MAX_LINE_BYTES } from '../../admin/request-log/line-bytes.ts'
import { createRequestLog, type RequestLog } from '../../admin/request-log/request-log.ts'
import type { CommandIo } from '../io.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import type { LogOutput } from './log-output.ts'
import { isReadable } from './readable-log.ts'

/** Maximum time that a line waits in a batch. A killed process loses at most the lines of this time. */
const FLUSH_MS = 100
/** Size of a batch. Workers share a pipe, so their batches are at most PIPE_BUF and cannot interleave within a line. */
const BATCH_BYTES = 65_536
const WORKER_BATCH_BYTES = 4_096
/** Number of buffers that are kept for reuse. */
const MAX_SPARE = 2

type AccessLogConfig = Pick<ServeConfig, 'accessLog' | 'accessLogSample' | 'logLevel'>

/** Null with `--log-level silent`. Disposing of it flushes the last batch. */
export function openAccessLog(
  { accessLog, accessLogSample, logLevel }: AccessLogConfig,
  salt: string,
  { isTerminal, isColourless = false, clock }: Pick<CommandIo, 'isTerminal' | 'isColourless' | 'clock'>,
  output: LogOutput,
  log: Logger,
): RequestLog | null {
  if (logLevel === 'silent') return null
  const lines = openLines(output, cluster.isWorker ? WORKER_BATCH_BYTES : BATCH_BYTES)
  const requests = createRequestLog({
    sampleEvery: accessLog === 'off' ? 0 : accessLogSample,
    putLine: isReadable(accessLog, isTerminal) ? createPrettyLine(isColourless) : createJsonLine(),
    salt,
    clock,
    roomForLine: lines.roomForLine,
    onLeftOut: ({ status, isPlanned, count }) =>
      log.warn(
        { status, ...(isPlanned ? { planned: true } : {}), leftOut: count },
        'too many requests were refused to log a line for each',
      ),
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
  readonly roomForLine: () => LineBytes
}

/** Collects lines in batches. The buffer of a batch is reused once the output has taken it. */
function openLines(output: LogOutput, batchBytes: number): Lines {
  const spare: Buffer[] = []
  let batch: LineBytes | null = null
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    if (!batch) return
    const { bytes, at } = batch
    batch = null
    output.write(bytes.subarray(0, at), () => {
      if (spare.length < MAX_SPARE) spare.push(bytes)
    })
  }

  function onTimer(): void {
    timer = undefined
    flush()
  }

  return {
    roomForLine() {
      if (batch && batch.at > batchBytes - MAX_LINE_BYTES) flush()
      batch ??= { bytes: spare.pop() ?? Buffer.allocUnsafeSlow(batchBytes), at: 0 }
      // A full batch does not cancel the timer: there is at most one timer per `FLUSH_MS`, however many lines come.
      timer ??= setTimeout(onTimer, FLUSH_MS)
      return batch
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      flush()
    },
  }
}
