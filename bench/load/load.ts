// One measurement: load from the generator's process, cost from the server's.
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
  /** Processors that the server kept busy: near 1 when it, and not the load, was the limit. */
  readonly serverBusy: number
  readonly generatorBusy: number
}

/** Who makes the load: this benchmark itself, or autocannon to check it. */
export const GENERATORS = ['own', 'autocannon'] as const

/** What the generator is asked for. */
export interface LoadJob {
  readonly generator: (typeof GENERATORS)[number]
  readonly url: string
  readonly plan: LoadPlan
  readonly connections: number
  /** Where in the plan to begin. */
  readonly fromStep: number
  /** How long; null for every request of every user that the plan names once, except those that answer with new values. */
  readonly milliseconds: number | null
}

export interface LoadReport {
  /** Answered within the time. */
  readonly answered: number
  /** Answered at all. */
  readonly total: number
  readonly elapsedMilliseconds: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  readonly cpuMicroseconds: number
  /** Answers of status 400 and above, and connections that broke. */
  readonly failed: number
  readonly firstFailure: string
}

export interface MeasureOptions {
  readonly seconds: number
  /** Requests under way at once; 64 when not given. */
  readonly connections?: number
  /** Where in the plan to begin; at its start when not given. */
  readonly fromStep?: number
}

export interface Load extends AsyncDisposable {
  /** Throws when anything was answered with a status of 400 or above, or not at all. */
  readonly measure: (server: ServerProcess, plan: LoadPlan, options: MeasureOptions) => Promise<Measurement>
  /** Sends what the plan names once, so that no measurement pays for what only first requests pay. */
  readonly warmUp: (server: ServerProcess, plan: LoadPlan) => Promise<void>
}

/** `command` stands before the generator's. */
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
