// Rows that compare a gateway of a million users with one of a thousand, in requests and at its start.
import { statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { type ManyUsers, manyUsers } from '../data/many-users.ts'
import type { Measurement } from '../load/load.ts'
import { uniformPlan } from '../load/plan.ts'
import { median, medianOf, medianRatio } from '../measuring/figures.ts'
import { memoryMiB } from '../measuring/memory.ts'
import type { Row } from '../row.ts'
import { startGateway } from '../servers/start.ts'
import { PROJECTS } from './requests.ts'

const FEW = 1_000
const MANY = 1_000_000
/** How long a gateway without requests waits before it counts as idle. */
const IDLE_MS = 2_000

export const GROWTH_ROW: Row = {
  name: 'growth',
  async run(bench) {
    await using few = await startReads(bench, FEW)
    await using many = await startReads(bench, MANY)
    for (let round = 0; round < bench.rounds; round += 1) {
      await few.measure(round)
      await many.measure(round)
    }
    const costs = ({ rounds }: Reads) => rounds.map((one) => one.cpuMicrosecondsPerRequest)
    const lineOf = (users: number, rounds: readonly Measurement[]) => {
      const one = medianOf(rounds)
      return `${`${users} users`.padEnd(24)}${`${one.requestsPerSecond.toFixed(0)} req/s`.padStart(13)}${`${one.cpuMicrosecondsPerRequest.toFixed(1)} µs CPU`.padStart(15)}`
    }
    return {
      lines: [lineOf(FEW, few.rounds), lineOf(MANY, many.rounds)],
      goals: [
        {
          what: `CPU per read, ${MANY} / ${FEW} users`,
          figure: medianRatio(costs(many), costs(few)),
          atMost: 1.25,
          note: 'the median of the ratios of each round',
          why: 'the documents of the many lie on more pages than the page cache holds',
        },
      ],
      data: { few: few.rounds, many: many.rounds },
    }
  },
}

interface Reads extends AsyncDisposable {
  readonly rounds: readonly Measurement[]
  readonly measure: (round: number) => Promise<void>
}

/** A gateway without a reply cache, and reads of its users at random. */
async function startReads(bench: Bench, count: number): Promise<Reads> {
  const { databaseUrl, users } = await manyUsers(bench, count)
  const gateway = await startGateway(bench, databaseUrl, '--cache-bytes', '0')
  const plan = uniformPlan(PROJECTS, users)
  // The first request of each user verifies its token, which is not part of this measurement.
  await bench.load.warmUp(gateway, plan)
  const rounds: Measurement[] = []
  return {
    rounds,
    async measure(round) {
      const fromStep = Math.floor((round / bench.rounds) * plan.userOf.length)
      rounds.push(await bench.load.measure(gateway, plan, { ...bench, fromStep }))
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

export const START_ROW: Row = {
  name: 'start',
  async run(bench) {
    const database = await manyUsers(bench, MANY)
    const unchecked: Start[] = []
    const checked: Start[] = []
    for (let round = 0; round < bench.rounds; round += 1) {
      unchecked.push(await measureStart(bench, database, '--check', 'off'))
      checked.push(await measureStart(bench, database))
    }
    const milliseconds = (starts: readonly Start[]) => median(starts.map((one) => one.milliseconds))
    const { size } = statSync(database.databaseUrl.slice('file:'.length))
    return {
      lines: [],
      goals: [
        {
          what: `start to first answer, ${MANY} users, with --check off`,
          figure: milliseconds(unchecked),
          unit: 'ms',
          atMost: 400,
          note: `${milliseconds(checked).toFixed(0)} ms by default, when all ${Math.round(size / 1e6)} MB of the file are read`,
          why: 'nearly all of it is Node and the reading of modules, as fast as the processor is',
        },
        {
          what: 'idle memory',
          figure: median(checked.map(({ idleMiB }) => idleMiB)),
          unit: 'MiB',
          atMost: 120,
        },
      ],
      data: { unchecked, checked },
    }
  },
}

interface Start {
  /** From the start of the process to its first answer. */
  readonly milliseconds: number
  readonly idleMiB: number
}

async function measureStart(
  bench: Bench,
  { databaseUrl, users }: ManyUsers,
  ...options: readonly string[]
): Promise<Start> {
  const headers = { authorization: `Bearer ${users[0]?.accessToken}` }
  const started = performance.now()
  await using gateway = await startGateway(bench, databaseUrl, ...options)
  const response = await fetch(`${gateway.url}/projects`, { headers })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`the first answer is ${response.status}`)
  const milliseconds = performance.now() - started
  await delay(IDLE_MS)
  return { milliseconds, idleMiB: memoryMiB(gateway.pid, 'VmRSS') }
}
