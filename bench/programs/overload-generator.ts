// Generates requests at a fixed rate, whether earlier ones are answered or not. The parent process sends one job and
// receives its outcome.
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'

/** Time at the start that is not counted: the first requests are a burst, which is answered however late. */
const BURST_MS = 500
const READ_BYTES = 65_536
const HEAD_END = Buffer.from('\r\n\r\n')

export interface OverloadJob {
  readonly port: number
  /** Requests a second. With 0, each connection sends its next request when the last one was answered. */
  readonly rate: number
  readonly connections: number
  readonly seconds: number
  /**
   * Sent in turn over all connections, so that jobs with few and with many connections read the data of as many users.
   */
  readonly requests: readonly string[]
}

export interface OverloadOutcome {
  readonly answered: number
  readonly refused: number
  readonly p99Ms: number
  readonly cpuMicroseconds: number
  /** How long requests were sent, including the time that is not counted. */
  readonly seconds: number
}

/** Opens all connections before it sends the first request. */
async function generate({ port, rate, connections, seconds, requests }: OverloadJob): Promise<OverloadOutcome> {
  let latencies: number[] = []
  const idle: (() => void)[] = []
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  let [refused, asked, due, end] = [0, 0, 0, Number.POSITIVE_INFINITY]

  /** Runs one connection: sends its next request when one is due, else becomes idle. */
  function converse(socket: Socket): void {
    let sentAt = 0
    // Bytes still missing of the current answer. A connection has one request in flight.
    let missing = 0
    const send = () => {
      const request = requests[asked % requests.length] ?? ''
      asked += 1
      sentAt = performance.now()
      socket.write(request)
    }
    const next = () => {
      if (performance.now() < end && asked < due) send()
      else idle.push(send)
    }
    talkers.set(socket, (chunk) => {
      if (missing === 0) {
        const headBytes = chunk.indexOf(HEAD_END)
        if (headBytes === -1) throw new Error('the head of an answer came in pieces')
        const head = chunk.toString('latin1', 0, headBytes)
        if (head.startsWith('HTTP/1.1 200')) latencies.push(performance.now() - sentAt)
        else refused += 1
        missing = headBytes + HEAD_END.length + Number(/content-length: (\d+)/i.exec(head)?.[1])
      }
      missing -= chunk.byteLength
      if (missing === 0) next()
    })
    idle.push(send)
  }

  async function connect(): Promise<Socket> {
    // All connections share one buffer, because the callback handles the data before anything else is read.
    const onread = {
      buffer,
      callback(byteLength: number) {
        talkers.get(socket)?.(buffer.subarray(0, byteLength))
        return true
      },
    }
    const socket = createConnection({ port, host: '127.0.0.1', noDelay: true, onread })
    await once(socket, 'connect')
    socket.on('close', () => {
      throw new Error('a connection was closed')
    })
    return socket
  }

  const talkers = new Map<Socket, (chunk: Buffer) => void>()
  const sockets: Socket[] = []
  while (sockets.length < connections) sockets.push(...(await Promise.all(Array.from({ length: 10 }, connect))))
  for (const socket of sockets) converse(socket)
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  end = startedAt + BURST_MS + seconds * 1_000
  let isCounted = false
  while (performance.now() < end) {
    if (!isCounted && performance.now() > startedAt + BURST_MS) {
      isCounted = true
      latencies = []
      refused = 0
    }
    due = rate === 0 ? Number.POSITIVE_INFINITY : ((performance.now() - startedAt) / 1_000) * rate
    while (asked < due && idle.length > 0) idle.pop()?.()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const { user, system } = process.cpuUsage(cpu)
  latencies.sort((a, b) => a - b)
  return {
    answered: latencies.length / seconds,
    refused: refused / seconds,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    cpuMicroseconds: user + system,
    seconds: seconds + BURST_MS / 1_000,
  }
}

process.on('message', async (job: OverloadJob) => process.send?.(await generate(job)))
