// The load generator, a separate process. Each of its connections sends the next request when the last one was
// answered.
//
// It does as little work per request as possible: it writes prepared bytes, reads only status and length, and does not
// copy the answer. On a machine with two processors, a generator slower than the server would measure itself.
import { createConnection, type Socket } from 'node:net'
import type { LoadJob, LoadReport } from './load.ts'
import { createRequests, type NextRequest, type PlannedRequest } from './planned-requests.ts'

const BUFFER_BYTES = 65_536
const SILENCE_MS = 10_000
const HEAD_END = Buffer.from('\r\n\r\n')
const EMPTY = Buffer.alloc(0)
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

interface Tally {
  readonly deadline: number
  readonly latencies: number[]
  total: number
  failed: number
  firstFailure: string
}

process.on('message', async (job: LoadJob) => {
  process.send?.(await (job.generator === 'autocannon' ? autocannon(job) : run(job)))
})
process.on('disconnect', () => process.exit())

/** Imported lazily, because the tests of this generator run without the packages of the benchmark. */
async function autocannon(job: LoadJob): Promise<LoadReport> {
  const { runAutocannon } = await import('./with-autocannon.ts')
  return runAutocannon(job)
}

async function run({ url, plan, connections, fromStep, milliseconds }: LoadJob): Promise<LoadReport> {
  const { hostname, port } = new URL(url)
  const requests = createRequests(plan, `${hostname}:${port}`)
  const next = milliseconds === null ? requests.eachOnce() : requests.from(fromStep)
  const cpu = process.cpuUsage()
  const start = performance.now()
  const deadline = start + (milliseconds ?? Number.POSITIVE_INFINITY)
  const tally: Tally = { deadline, latencies: [], total: 0, failed: 0, firstFailure: '' }
  await Promise.all(Array.from({ length: connections }, () => converse(hostname, Number(port), next, tally)))
  const elapsedMilliseconds = Math.min(performance.now(), deadline) - start
  const { user, system } = process.cpuUsage(cpu)
  const sorted = Float64Array.from(tally.latencies).sort()
  const quantile = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return {
    answered: tally.latencies.length,
    total: tally.total,
    elapsedMilliseconds,
    p50Milliseconds: quantile(0.5),
    p99Milliseconds: quantile(0.99),
    cpuMicroseconds: user + system,
    failed: tally.failed,
    firstFailure: tally.firstFailure,
  }
}

/** Runs one connection until there is nothing more to send. */
function converse(host: string, port: number, next: NextRequest, tally: Tally): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const input = Buffer.allocUnsafe(BUFFER_BYTES)
  let current: PlannedRequest | null = null
  let sentAt = 0
  /** Bytes of the body still to come. Null while the head is incomplete; infinite for a chunked body. */
  let missing: number | null = null
  let status = 0
  let head = ''
  let kept: Buffer[] = []
  let tail: Buffer = EMPTY

  const socket: Socket = createConnection({
    host,
    port,
    noDelay: true,
    onread: {
      buffer: input,
      callback(byteLength) {
        receive(input.subarray(0, byteLength))
        return true
      },
    },
  })
  socket.on('connect', send)
  socket.setTimeout(SILENCE_MS, () => fail(new Error(`no answer in ${SILENCE_MS} ms`)))
  socket.on('error', fail)
  socket.on('close', () => {
    if (current !== null) fail(new Error('the connection was closed'))
    resolve()
  })

  function send(): void {
    const now = performance.now()
    current = now < tally.deadline ? next() : null
    if (current === null) {
      socket.destroy()
      return
    }
    sentAt = now
    socket.write(current.bytes)
  }

  function receive(chunk: Buffer): void {
    let body = chunk
    if (missing === null) {
      const end = head === '' ? chunk.indexOf(HEAD_END) : -1
      if (end === -1) {
        // The head arrives in several pieces. This may be the last one.
        head += chunk.toString('latin1')
        const joined = head.indexOf('\r\n\r\n')
        if (joined === -1) return
        body = Buffer.from(head.slice(joined + 4), 'latin1')
        readHead(head.slice(0, joined))
        head = ''
      } else {
        body = chunk.subarray(end + 4)
        readHead(chunk.toString('latin1', 0, end))
      }
    }
    if (current?.adopt || status >= 400) kept.push(Buffer.from(body))
    if (missing === Number.POSITIVE_INFINITY) {
      // Only one answer is in flight, so it is complete when the data ends with the last chunk.
      tail = Buffer.concat([tail, body.subarray(-LAST_CHUNK.byteLength)]).subarray(-LAST_CHUNK.byteLength)
      if (tail.equals(LAST_CHUNK)) answered()
      return
    }
    missing = (missing ?? 0) - body.byteLength
    if (missing === 0) answered()
  }

  function readHead(text: string): void {
    status = Number(text.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
    if (length !== undefined && status !== 304) missing = Number(length)
    else missing = /\r\ntransfer-encoding: *chunked/i.test(text) ? Number.POSITIVE_INFINITY : 0
  }

  function answered(): void {
    const now = performance.now()
    tally.total += 1
    if (now <= tally.deadline) tally.latencies.push(now - sentAt)
    if (kept.length > 0) {
      const body = missing === Number.POSITIVE_INFINITY ? withoutChunks(Buffer.concat(kept)) : Buffer.concat(kept)
      if (status >= 400) note(`${status} ${body}`)
      else current?.adopt?.(body.toString())
    }
    missing = null
    kept = []
    tail = EMPTY
    send()
  }

  function fail(error: Error): void {
    note(error.message)
    current = null
    socket.destroy()
  }

  function note(failure: string): void {
    tally.failed += 1
    tally.firstFailure ||= failure
  }

  return promise
}

/** The content of a chunked body (RFC 9112 section 7.1). */
function withoutChunks(body: Buffer): Buffer {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.toString('latin1', at, lineEnd), 16)
    if (lineEnd === -1 || !(size > 0)) return Buffer.concat(chunks)
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}
