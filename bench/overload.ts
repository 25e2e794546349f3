// Overload: requests come at a fixed rate on as many connections, whether they are answered or not. Prints what is answered, and how late, below
// saturation, at it, and at three times as many, each in turn, in rounds: a machine that others use too is not the same all the time.
// `npm run bench:overload [-- ROUNDS [USERS]]`; exits with 1 when too little is answered in the median of the rounds.
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from './measuring/figures.ts'
import { type ServerProcess, startServer } from './measuring/server-process.ts'
import { APOLLO_ACCEPT } from './rows/requests.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const DEMO = fileURLToPath(new URL('../src/cli/demo/demo-workspace.ndjson', import.meta.url))
const SELF = fileURLToPath(import.meta.url)
const ROUNDS = Number(process.argv[2] ?? 5)
const SECONDS = 3
const MAX_CONNECTIONS = 1_000
/** With the demo workspace each. */
const USERS = Number(process.argv[3] ?? 200)
/** Of every latency list: enough for a p99, and little to sort. */
const MIN_GOODPUT = 0.85
const MAX_P99_RATIO = 5
/** Not counted: what comes all at once is a burst, which is answered however late. */
const BURST_MS = 500
const READ_BYTES = 65_536
const HEAD_END = Buffer.from('\r\n\r\n')
const DOCUMENT = '{ me { projects { documentId name description tags updatedAt } } }'

interface Job {
  readonly port: number
  /** Requests a second; 0 for as many as `connections` get answered, one after the other. */
  readonly rate: number
  readonly connections: number
  readonly seconds: number
  /** One for each connection, over and over. */
  readonly requests: readonly string[]
}

interface Outcome {
  readonly answered: number
  readonly refused: number
  readonly p99Ms: number
  readonly cpuMicroseconds: number
}

/** The generator, in a process of its own. All connections stand before the first request. */
async function generate({ port, rate, connections, seconds, requests }: Job): Promise<Outcome> {
  let latencies: number[] = []
  const idle: (() => void)[] = []
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  let [refused, asked, due, end] = [0, 0, 0, Number.POSITIVE_INFINITY]

  /** Answers its next request, when one is due. */
  function converse(socket: Socket, request: string): void {
    let sentAt = 0
    // Of the answer under way: one at a time on a connection.
    let missing = 0
    const send = () => {
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
    // Each reads into the one buffer: what came is counted before anything else is read.
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
  for (const [at, socket] of sockets.entries()) converse(socket, requests[at % requests.length] ?? '')
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
  }
}

interface Measured extends Outcome {
  /** Processors that each kept busy: near 1 when it is what limits. */
  readonly serverBusy: number
  readonly generatorBusy: number
  /** The slowest answer to a health check, each on a connection of its own. */
  readonly healthMs: number
}

async function measure(server: ServerProcess, job: Job): Promise<Measured> {
  const generator = fork(SELF, ['generator'])
  const before = server.cpuMicroseconds()
  generator.send(job)
  const answer = once(generator, 'message')
  let healthMs = 0
  let isRunning = true
  void answer.then(() => {
    isRunning = false
  })
  while (isRunning) {
    const askedAt = performance.now()
    const [health] = (await once(get(`${server.url}/healthz`, { agent: false }), 'response')) as [IncomingMessage]
    health.resume()
    if (health.statusCode === 200) healthMs = Math.max(healthMs, performance.now() - askedAt)
    else throw new Error(`/healthz answered ${health.statusCode}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const [outcome] = (await answer) as [Outcome]
  generator.kill()
  const busy = (microseconds: number) => microseconds / 1e6 / (job.seconds + BURST_MS / 1_000)
  return {
    ...outcome,
    healthMs,
    serverBusy: busy(server.cpuMicroseconds() - before),
    generatorBusy: busy(outcome.cpuMicroseconds),
  }
}

async function compare(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-overload-'))
  try {
    const database = ['--database', `file:${join(directory, 'data.db')}`]
    const input = join(directory, 'workspaces.ndjson')
    const demo = readFileSync(DEMO, 'utf8')
    const emails = Array.from({ length: USERS }, (_, user) => `user${user}@example.com`)
    writeFileSync(input, emails.map((email) => demo.replaceAll('demo@example.com', email)).join(''))
    await promisify(execFile)(process.execPath, [MAIN, 'import', input, ...database])
    // No two answers from the cache: what is measured is work.
    const args = ['serve', '--port', '0', '--cache-bytes', '0', '--log-level', 'warn', ...database]
    await using server = await startServer([], [MAIN, ...args], {})
    const requests: string[] = []
    for (const email of emails) requests.push(requestOf(await signIn(server.url, email)))
    const job = { port: Number(new URL(server.url).port), requests, seconds: SECONDS }
    await measure(server, { ...job, rate: 0, connections: 16, seconds: 3 })
    const ratios: { readonly goodput: number; readonly late: number }[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const peak = await measure(server, { ...job, rate: 0, connections: 32 })
      const calm = await measure(server, { ...job, rate: peak.answered * 0.7, connections: MAX_CONNECTIONS })
      const flooded = await measure(server, { ...job, rate: peak.answered * 3, connections: MAX_CONNECTIONS })
      print({ peak, 'at 0.7': calm, 'at 3.0': flooded })
      ratios.push({ goodput: flooded.answered / peak.answered, late: flooded.p99Ms / calm.p99Ms })
    }
    const goodput = median(ratios.map((each) => each.goodput))
    const late = median(ratios.map((each) => each.late))
    process.stdout.write(
      `goodput at 3 times saturation ${goodput.toFixed(2)} of the peak; p99 ${late.toFixed(1)} times that at 0.7\n`,
    )
    return goodput >= MIN_GOODPUT && late <= MAX_P99_RATIO
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function signIn(url: string, email: string): Promise<string> {
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  const { accessToken } = (await login.json()) as { accessToken: string }
  return accessToken
}

function requestOf(accessToken: string): string {
  const body = JSON.stringify({ query: DOCUMENT })
  return `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: ${APOLLO_ACCEPT}\r\nAuthorization: Bearer ${accessToken}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function print(rows: Readonly<Record<string, Measured>>): void {
  for (const [name, { answered, refused, p99Ms, serverBusy, generatorBusy, healthMs }] of Object.entries(rows)) {
    const shown = [answered.toFixed(0), refused.toFixed(0), p99Ms.toFixed(1)].map((value) => value.padStart(10))
    process.stdout.write(
      `${name.padEnd(8)} answered/s${shown[0]}   503/s${shown[1]}   p99 ms${shown[2]}   ` +
        `server busy ${serverBusy.toFixed(2)}   generator ${generatorBusy.toFixed(2)}   health ms${healthMs.toFixed(0).padStart(5)}\n`,
    )
  }
}

if (process.argv[2] === 'generator') {
  process.on('message', async (job: Job) => process.send?.(await generate(job)))
} else {
  process.exitCode = (await compare()) ? 0 : 1
}
