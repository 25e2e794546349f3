// Runs the rows that send the same requests to several servers, in alternating rounds, and compare them.
import { isDeepStrictEqual } from 'node:util'
import type { Bench } from '../bench.ts'
import type { Measurement } from '../load/load.ts'
import type { LoadPlan, LoadRequest } from '../load/plan.ts'
import type { Goal, RowResult } from '../row.ts'
import { ask } from './ask.ts'
import { median, medianOf, medianRatio } from './figures.ts'
import type { ServerProcess } from './server-process.ts'

export interface Contender {
  readonly name: string
  readonly start: () => Promise<ServerProcess>
  /** Replaces the only request of the plan, when this server needs the same question in another form. */
  readonly request?: LoadRequest
  /** Throws when the answer to the plan's first user does not contain what was asked for. */
  readonly check?: (answer: string, mediaType: string) => void
  /** Runs beside the server while it is measured. Disposing of it waits for its end. */
  readonly meanwhile?: () => AsyncDisposable
}

export interface GoalAgainst extends Pick<Goal, 'why'> {
  readonly against: string
  readonly atLeast: number
}

export interface SideBySide {
  readonly plan: LoadPlan
  readonly contenders: readonly Contender[]
  /** The contender whose ratios the goals are about. */
  readonly subject: string
  /** Goals for the subject's requests per second, as a multiple of another contender's. */
  readonly goals: readonly GoalAgainst[]
  /** Seconds of load before measuring. By default, every request once and then the time of one measurement. */
  readonly warmUpSeconds?: number
  readonly afterRound?: () => Promise<void>
}

export interface ContenderFigures {
  readonly name: string
  readonly median: Measurement
  readonly peakMemoryMiB: number
  readonly rounds: readonly Measurement[]
}

interface Measured {
  readonly name: string
  readonly server: ServerProcess
  readonly rounds: Measurement[]
}

export async function sideBySide(
  bench: Bench,
  comparison: SideBySide,
): Promise<RowResult & { readonly data: readonly ContenderFigures[] }> {
  const { plan, warmUpSeconds, afterRound } = comparison
  await using servers = new AsyncDisposableStack()
  const measured: (Measured & Pick<Contender, 'meanwhile'> & { readonly plan: LoadPlan })[] = []
  for (const contender of comparison.contenders) {
    const server = servers.use(await contender.start())
    const own = contender.request ? { ...plan, requests: [contender.request] } : plan
    if (contender.check) contender.check(...(await firstAnswer(server, own)))
    if (warmUpSeconds === undefined) await bench.load.warmUp(server, own)
    await bench.load.measure(server, own, { seconds: warmUpSeconds ?? bench.seconds })
    measured.push({ ...contender, plan: own, server, rounds: [] })
  }
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const { server, plan: own, rounds, meanwhile } of measured) {
      await using _ = meanwhile?.()
      const fromStep = Math.floor((round / bench.rounds) * plan.userOf.length)
      rounds.push(await bench.load.measure(server, own, { ...bench, fromStep }))
    }
    await afterRound?.()
  }
  const goals = comparison.goals.map((goal) => toGoal(goal, comparison.subject, measured))
  return {
    lines: tableOf(measured),
    goals,
    data: measured.map(({ name, server, rounds }) => ({
      name,
      median: medianOf(rounds),
      peakMemoryMiB: server.peakMemoryMiB(),
      rounds,
    })),
  }
}

/** Throws unless the media type is one that a GraphQL client accepts. */
export function requireGraphQLType(name: string, mediaType: string): void {
  if (mediaType === 'application/graphql-response+json' || mediaType === 'application/json') return
  throw new Error(`${name} answers ${mediaType}`)
}

/** Throws unless both JSON values are equal. */
export function requireSame(name: string, answer: unknown, expected: unknown): void {
  if (isDeepStrictEqual(answer, expected)) return
  throw new Error(`${name} answers something else: ${JSON.stringify(answer)?.slice(0, 500)}`)
}

async function firstAnswer(
  { url }: ServerProcess,
  { requests: [request], users: [user] }: LoadPlan,
): Promise<readonly [answer: string, mediaType: string]> {
  if (!request || !user) throw new Error('an empty plan')
  const response = await ask(url, request, user)
  const [mediaType = ''] = response.headers.get('content-type')?.split(';') ?? []
  return [await response.text(), mediaType]
}

function tableOf(measured: readonly Measured[]): readonly string[] {
  const bare = measured.find(({ name }) => name === 'bare')
  return measured.map(({ name, server, rounds }) => {
    const one = medianOf(rounds)
    return [
      name.padEnd(24),
      `${one.requestsPerSecond.toFixed(0)} req/s`.padStart(13),
      `p50 ${one.p50Milliseconds.toFixed(2)} ms`.padStart(14),
      `p99 ${one.p99Milliseconds.toFixed(2)} ms`.padStart(15),
      `${one.cpuMicrosecondsPerRequest.toFixed(1)} µs CPU`.padStart(15),
      `${(one.serverBusy * 100).toFixed(0)} % busy`.padStart(11),
      `${server.peakMemoryMiB().toFixed(0)} MiB`.padStart(9),
      bare ? `${medianRatio(ratesOf(rounds), ratesOf(bare.rounds)).toFixed(2)} of bare`.padStart(14) : '',
    ].join('')
  })
}

function toGoal({ against, atLeast, ...rest }: GoalAgainst, subject: string, measured: readonly Measured[]): Goal {
  const roundsOf = (wanted: string) => measured.find(({ name }) => name === wanted)?.rounds ?? []
  const [ours, theirs] = [roundsOf(subject), roundsOf(against)]
  const cpuRatio = median(
    ours.map((one, round) => (theirs[round]?.cpuMicrosecondsPerRequest ?? Number.NaN) / one.cpuMicrosecondsPerRequest),
  )
  return {
    what: `${subject} / ${against}`,
    figure: medianRatio(ratesOf(ours), ratesOf(theirs)),
    atLeast,
    note: `by CPU per request ${cpuRatio.toFixed(2)}`,
    ...rest,
  }
}

function ratesOf(rounds: readonly Measurement[]): readonly number[] {
  return rounds.map(({ requestsPerSecond }) => requestsPerSecond)
}
