// Rows about large exports: their speed, memory and processor time, and their effect on small reads.
import type { Bench } from '../bench.ts'
import { EXPORT_PATH, type LargeExport, largeExport } from '../data/large-export.ts'
import { uniformPlan } from '../load/plan.ts'
import { type Download, download } from '../measuring/download.ts'
import { median, medianRatio } from '../measuring/figures.ts'
import { keepRunning } from '../measuring/keep-running.ts'
import { memoryMiB } from '../measuring/memory.ts'
import type { ServerProcess } from '../measuring/server-process.ts'
import type { Goal, Row } from '../row.ts'
import { startGateway, startPeer } from '../servers/start.ts'
import { PROJECTS } from './requests.ts'

const AT_ONCE = 8
const CODINGS = ['gzip', 'br', 'zstd'] as const
/** Minimum size of a compressed export. */
const SOME_BYTES = 100_000

interface Timed extends Download {
  readonly cpuMilliseconds: number
}

export const EXPORT_ROWS: readonly Row[] = [
  {
    name: 'export',
    async run(bench) {
      const large = await largeExport(bench)
      await using file = await startPeer(bench, 'file', { FILE: large.bodyFile })
      await using gateway = await startGateway(bench, large.databaseUrl)
      const headers = headersOf(large, 'identity')
      const before = memoryMiB(gateway.pid, 'VmRSS')
      const rounds = await takeTurns(bench, [
        () => timed(file, `${file.url}/`, {}, large.byteLength),
        () => timed(gateway, `${gateway.url}${EXPORT_PATH}`, headers, large.byteLength),
      ])
      const [theirs = [], ours = []] = rounds
      await Promise.all(
        Array.from({ length: AT_ONCE }, () => download(`${gateway.url}${EXPORT_PATH}`, headers, large.byteLength)),
      )
      const growth = gateway.peakMemoryMiB() - before
      const { alone, beside } = await smallReads(bench, large)
      const goals: Goal[] = [
        { ...ratioGoal('gateway / piping a file', ours, theirs), atLeast: 0.7 },
        { what: `memory growth with ${AT_ONCE} at once`, figure: growth, unit: 'MiB', atMost: 64 },
        { what: 'first byte', figure: median(ours.map((one) => one.firstByteMilliseconds)), unit: 'ms', atMost: 20 },
        {
          what: `p99 of small reads during ${AT_ONCE} exports / alone`,
          figure: medianRatio(beside, alone),
          atMost: 3,
          note: `${median(beside).toFixed(2)} ms, ${median(alone).toFixed(2)} ms`,
        },
      ]
      return {
        lines: [lineOf('pipe of a file', theirs), lineOf('gateway', ours)],
        goals,
        data: { rounds, alone, beside },
      }
    },
  },
  {
    name: 'export-compressed',
    async run(bench) {
      const large = await largeExport(bench)
      await using gateway = await startGateway(bench, large.databaseUrl)
      const url = `${gateway.url}${EXPORT_PATH}`
      const lines: string[] = []
      const goals: Goal[] = []
      const data: Record<string, unknown> = {}
      for (const coding of CODINGS) {
        const first = await timed(gateway, url, headersOf(large, coding), SOME_BYTES)
        const rounds = await takeTurns(bench, [
          () => timed(gateway, url, headersOf(large, 'identity'), large.byteLength),
          () => timed(gateway, url, headersOf(large, coding), SOME_BYTES),
        ])
        const [plain = [], coded = []] = rounds
        lines.push(lineOf(`${coding}, first`, [first]), lineOf(`${coding}, warm`, coded), lineOf('uncompressed', plain))
        goals.push({ ...ratioGoal(`${coding}, warm / uncompressed`, coded, plain), atLeast: 1 })
        data[coding] = { first, plain, coded }
      }
      return { lines, goals, data }
    },
  },
]

function headersOf({ owner }: LargeExport, coding: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${owner.accessToken}`, 'accept-encoding': coding }
}

/** Runs each contender once without counting it, then alternates between them for all rounds. */
async function takeTurns(bench: Bench, contenders: readonly (() => Promise<Timed>)[]): Promise<readonly Timed[][]> {
  for (const run of contenders) await run()
  const rounds: Timed[][] = contenders.map(() => [])
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const [index, run] of contenders.entries()) rounds[index]?.push(await run())
  }
  return rounds
}

async function timed(
  server: ServerProcess,
  url: string,
  headers: Readonly<Record<string, string>>,
  minBytes: number,
): Promise<Timed> {
  const before = server.cpuMicroseconds()
  const one = await download(url, headers, minBytes)
  return { ...one, cpuMilliseconds: (server.cpuMicroseconds() - before) / 1_000 }
}

function ratioGoal(what: string, ours: readonly Timed[], theirs: readonly Timed[]) {
  const ratioOf = (field: 'milliseconds' | 'cpuMilliseconds') =>
    medianRatio(
      theirs.map((one) => one[field]),
      ours.map((one) => one[field]),
    )
  return { what, figure: ratioOf('milliseconds'), note: `by CPU ${ratioOf('cpuMilliseconds').toFixed(2)}` }
}

function lineOf(name: string, rounds: readonly Timed[]): string {
  const of = (field: keyof Timed) => median(rounds.map((one) => one[field]))
  return [
    name.padEnd(24),
    `${of('milliseconds').toFixed(0)} ms`.padStart(10),
    `first byte ${of('firstByteMilliseconds').toFixed(1)} ms`.padStart(22),
    `${of('cpuMilliseconds').toFixed(0)} ms CPU`.padStart(14),
    `${(of('byteLength') / 1e6).toFixed(1)} MB`.padStart(12),
  ].join('')
}

/** The p99 of each round, alone and with large exports in flight all the time. */
async function smallReads(bench: Bench, large: LargeExport) {
  await using gateway = await startGateway(bench, large.databaseUrl)
  const plan = uniformPlan(PROJECTS, large.smallUsers)
  await bench.load.warmUp(gateway, plan)
  await bench.load.measure(gateway, plan, bench)
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < bench.rounds; round += 1) {
    alone.push((await bench.load.measure(gateway, plan, bench)).p99Milliseconds)
    await using _ = keepDownloading(gateway, large)
    beside.push((await bench.load.measure(gateway, plan, bench)).p99Milliseconds)
  }
  return { alone, beside }
}

function keepDownloading(gateway: ServerProcess, large: LargeExport): AsyncDisposable {
  const headers = headersOf(large, 'identity')
  return keepRunning(AT_ONCE, () => download(`${gateway.url}${EXPORT_PATH}`, headers, large.byteLength))
}
