// The row about overload: how much is answered, and how late, below saturation, at saturation and at three times that.
// The cases alternate, because the speed of a shared machine varies. Processes are not pinned to processors, unlike in
// other rows.
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../measuring/figures.ts'
import { type ServerProcess, startServer } from '../measuring/server-process.ts'
import type { OverloadJob, OverloadOutcome } from '../programs/overload-generator.ts'
import type { Row } from '../row.ts'
import { APOLLO_ACCEPT } from './requests.ts'

const DEMO = fileURLToPath(new URL('../../src/cli/demo/demo-workspace.ndjson', import.meta.url))
const GENERATOR = fileURLToPath(new URL('../programs/overload-generator.ts', import.meta.url))
const SECONDS = 3
const MAX_CONNECTIONS = 1_000
/** Each user has the demo workspace. */
const USERS = 200
const MIN_GOODPUT = 0.85
const MAX_P99_RATIO = 5
const DOCUMENT = '{ me { projects { documentId name description tags updatedAt } } }'

interface Measured extends OverloadOutcome {
  /** Number of processors kept busy: near 1 when this process is the limit. */
  readonly serverBusy: number
  readonly generatorBusy: number
  /** Time of the slowest health check. Each one uses a new connection. */
  readonly healthMs: number
}

interface Round {
  /** The closed-loop rate of 32 connections with the same requests. */
  readonly peak: Measured
  readonly calm: Measured
  readonly flooded: Measured
}

export const OVERLOAD_ROW: Row = {
  name: 'overload',
  async run({ program, directory, rounds: count }) {
    const database = ['--database', `file:${join(directory, 'overload.db')}`]
    const input = join(directory, 'overload.ndjson')
    const demo = readFileSync(DEMO, 'utf8')
    const emails = Array.from({ length: USERS }, (_, user) => `user${user}@example.com`)
    writeFileSync(input, emails.map((email) => demo.replaceAll('demo@example.com', email)).join(''))
    await promisify(execFile)(process.execPath, [program, 'import', input, ...database])
    // Without the reply cache, so that every request is executed.
    const args = ['serve', '--port', '0', '--cache-bytes', '0', '--log-level', 'warn', ...database]
    const log = openSync(join(directory, 'overload.log'), 'a')
    await using server = await startServer([], [program, ...args], {}, log)
    const requests: string[] = []
    for (const email of emails) requests.push(requestOf(await signIn(server.url, email)))
    const job = { port: Number(new URL(server.url).port), requests, seconds: SECONDS }
    await measure(server, { ...job, rate: 0, connections: 16 })
    const rounds: Round[] = []
    for (let round = 0; round < count; round += 1) {
      const peak = await measure(server, { ...job, rate: 0, connections: 32 })
      const calm = await measure(server, { ...job, rate: peak.answered * 0.7, connections: MAX_CONNECTIONS })
      const flooded = await measure(server, { ...job, rate: peak.answered * 3, connections: MAX_CONNECTIONS })
      rounds.push({ peak, calm, flooded })
    }
    return {
      lines: rounds.flatMap(toLines),
      goals: [
        {
          what: 'answered at three times saturation, of the peak',
          figure: median(rounds.map(({ flooded, peak }) => flooded.answered / peak.answered)),
          atLeast: MIN_GOODPUT,
          why: 'refusals, and a thousand connections, cost time that answers do not have',
        },
        {
          what: 'p99 of what is answered then, of that at 0.7',
          figure: median(rounds.map(({ flooded, calm }) => flooded.p99Ms / calm.p99Ms)),
          atMost: MAX_P99_RATIO,
        },
      ],
      data: rounds,
    }
  },
}

/** Throws when the load generator ends without an outcome: on a broken connection, or on Ctrl-C. */
export async function measure(server: ServerProcess, job: OverloadJob): Promise<Measured> {
  const generator = fork(GENERATOR)
  const before = server.cpuMicroseconds()
  const ended = once(generator, 'exit').then(() => {
    throw new Error('the load generator ended')
  })
  const answer = Promise.race([once(generator, 'message'), ended])
  let healthMs = 0
  let isRunning = true
  const stop = () => {
    isRunning = false
  }
  void answer.then(stop, stop)
  generator.send(job)
  try {
    while (isRunning) {
      const askedAt = performance.now()
      const [health] = (await once(get(`${server.url}/healthz`, { agent: false }), 'response')) as [IncomingMessage]
      health.resume()
      if (health.statusCode === 200) healthMs = Math.max(healthMs, performance.now() - askedAt)
      else throw new Error(`/healthz answered ${health.statusCode}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const [outcome] = (await answer) as [OverloadOutcome]
    const busy = (microseconds: number) => microseconds / 1e6 / outcome.seconds
    return {
      ...outcome,
      healthMs,
      serverBusy: busy(server.cpuMicroseconds() - before),
      generatorBusy: busy(outcome.cpuMicroseconds),
    }
  } finally {
    generator.kill()
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

function toLines({ peak, calm, flooded }: Round): readonly string[] {
  return Object.entries({ peak, 'at 0.7': calm, 'at 3.0': flooded }).map(
    ([name, { answered, refused, p99Ms, serverBusy, generatorBusy, healthMs }]) => {
      const shown = [answered.toFixed(0), refused.toFixed(0), p99Ms.toFixed(1)].map((value) => value.padStart(10))
      return (
        `${name.padEnd(8)} answered/s${shown[0]}   503/s${shown[1]}   p99 ms${shown[2]}   ` +
        `server busy ${serverBusy.toFixed(2)}   generator ${generatorBusy.toFixed(2)}   health ms${healthMs.toFixed(0).padStart(5)}`
      )
    },
  )
}
