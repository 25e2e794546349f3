// Runs one measurement: the generator process reports the load, the server process its cost.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ServerProcess } from '../measuring/server-process.ts'
import type { LoadPlan } from './plan.ts'

const GENERATOR = fileURLToPath(new URL('./generator.ts', import.meta.url))
const CONNECTIONS = 64

export interface Measurement {
  readonly requestsPerSecond: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  readonly cpuMicrosecondsPerRequest: number
  /** Number of processors that the server kept busy: near 1 when the server, and not the load, was the limit. */
  readonly serverBusy: number
  readonly generatorBusy: number
}

/** The load generators: the benchmark's own, and autocannon to check it. */
export const GENERATORS = ['own', 'autocannon'] as const

/** A job for the generator process. */
export interface LoadJob {
  readonly generator: (typeof GENERATORS)[number]
  readonly url: string
  readonly plan: LoadPlan
  readonly connections: number
  /** First step of the plan. */
  readonly fromStep: number
  /** Duration. Null sends each request of each user in the plan once, except requests that adopt new values. */
  readonly milliseconds: number | null
}

export interface LoadReport {
  /** Number of answers within the time. */
  readonly answered: number
  /** Number of all answers. */
  readonly total: number
  readonly elapsedMilliseconds: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  readonly cpuMicroseconds: number
  /** Answers with status 400 and above, and broken connections. */
  readonly failed: number
  readonly firstFailure: string
}

export interface MeasureOptions {
  readonly seconds: number
  /** Requests in flight; 64 by default. */
  readonly connections?: number
  /** First step of the plan; 0 by default. */
  readonly fromStep?: number
}

export interface Load extends AsyncDisposable {
  /** Throws when any request was answered with status 400 or above, or not at all. */
  readonly measure: (server: ServerProcess, plan: LoadPlan, options: MeasureOptions) => Promise<Measurement>
  /** Sends each request of the plan once, so that no measurement includes the cost of first requests. */
  readonly warmUp: (server: ServerProcess, plan: LoadPlan) => Promise<void>
}

/** `command` is a prefix for the command of the generator, such as `taskset`. */
export function startLoad(command: readonly string[], generator: LoadJob['generator']): Load {
  const [file = '', ...args] = [...command, process.execPath, GENERATOR]
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' })
  const ended = once(child, 'exit')

  async function run(job: Omit<LoadJob, 'generator'>): Promise<LoadReport> {
    child.send({ ...job, generator })
    const answer = await Promise.race([once(child, 'message'), ended.then(() => [])])
    const report = answer[0] as LoadReport | undefined
    if (!report) throw new Error('the load generator ended')
    if (report.failed > 0) throw new Error(`${report.failed} requests failed at ${job.url}: ${report.firstFailure}`)
    return report
  }

  return {
    async measure(server, plan, { seconds, connections = CONNECTIONS, fromStep = 0 }) {
      const before = server.cpuMicroseconds()
      const report = await run({ url: server.url, plan, connections, fromStep, milliseconds: seconds * 1_000 })
      const cpu = server.cpuMicroseconds() - before
      const elapsed = report.elapsedMilliseconds * 1_000
      return {
        requestsPerSecond: (1e6 * report.answered) / elapsed,
        p50Milliseconds: report.p50Milliseconds,
        p99Milliseconds: report.p99Milliseconds,
        cpuMicrosecondsPerRequest: cpu / report.total,
        serverBusy: cpu / elapsed,
        generatorBusy: report.cpuMicroseconds / elapsed,
      }
    },
    async warmUp(server, plan) {
      await run({ url: server.url, plan, connections: CONNECTIONS, fromStep: 0, milliseconds: null })
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
