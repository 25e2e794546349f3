// Rows about realistic GraphQL: clients with different Accept headers, a failing field, and reads beside large answers.
import type { Bench } from '../bench.ts'
import { type LargeExport, largeExport } from '../data/large-export.ts'
import { uniformPlan } from '../load/plan.ts'
import { download } from '../measuring/download.ts'
import { median, medianRatio } from '../measuring/figures.ts'
import { keepRunning } from '../measuring/keep-running.ts'
import type { ServerProcess } from '../measuring/server-process.ts'
import { sideBySide } from '../measuring/side-by-side.ts'
import type { Goal, Row } from '../row.ts'
import { startGateway } from '../servers/start.ts'
import { APOLLO_ACCEPT, accepting, PROJECT_LIST, PROJECT_LIST_FAILING } from './requests.ts'

/** The Accept header of each client, as seen in its requests. */
const CLIENTS = {
  'Apollo Client 4': APOLLO_ACCEPT,
  urql: 'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  'graphql-request': 'application/graphql-response+json, application/json',
  axios: 'application/json, text/plain, */*',
  fetch: '*/*',
}
const AT_ONCE = 8
/** Elements of one answer at which the search for the largest allowed answer starts. */
const MOST_ELEMENTS = 100_000

export const GRAPHQL_ROWS: readonly Row[] = [
  {
    name: 'graphql-list-kept-clients',
    async run(bench) {
      const { databaseUrl, users } = await bench.workspace()
      const names = Object.keys(CLIENTS)
      const [first = ''] = names
      const result = await sideBySide(bench, {
        plan: uniformPlan(PROJECT_LIST, users),
        contenders: Object.entries(CLIENTS).map(([name, accept]) => ({
          name,
          request: accepting(PROJECT_LIST, { accept }),
          start: () => startGateway(bench, databaseUrl),
        })),
        subject: first,
        goals: [],
      })
      const ratesOf = (name: string) =>
        result.data.find((one) => one.name === name)?.rounds.map((round) => round.requestsPerSecond) ?? []
      const goals = names
        .filter((name) => name !== first)
        .map(
          (name): Goal => ({
            what: `${name} / ${first}`,
            figure: medianRatio(ratesOf(name), ratesOf(first)),
            atLeast: 0.85,
          }),
        )
      return { ...result, goals }
    },
  },
  {
    name: 'graphql-failing-field',
    async run(bench) {
      const { databaseUrl, users } = await bench.workspace()
      const start = () => startGateway(bench, databaseUrl, '--cache-bytes', '0')
      const result = await sideBySide(bench, {
        plan: uniformPlan(PROJECT_LIST, users),
        contenders: [
          { name: 'all fields answered', start },
          { name: 'one field failing', start, request: PROJECT_LIST_FAILING, check: requireFailure },
        ],
        subject: 'one field failing',
        goals: [],
      })
      const [answered = [], failing = []] = result.data.map(({ rounds }) =>
        rounds.map((round) => round.requestsPerSecond),
      )
      const figure = medianRatio(answered, failing)
      return {
        ...result,
        goals: [{ what: 'time of a query with one failing field / without it', figure, atMost: 1.2 }],
      }
    },
  },
  {
    name: 'graphql-beside-large',
    async run(bench) {
      const large = await largeExport(bench)
      await using gateway = await startGateway(bench, large.databaseUrl, '--cache-bytes', '0')
      const { elements, byteLength } = await largestAllowed(gateway, large)
      const plan = uniformPlan(PROJECT_LIST, large.smallUsers)
      await bench.load.warmUp(gateway, plan)
      await bench.load.measure(gateway, plan, bench)
      const { alone, beside } = await measureBeside(bench, gateway, large, elements)
      const note = `${median(beside).toFixed(2)} ms, ${median(alone).toFixed(2)} ms`
      return {
        lines: [`the largest answer has ${elements} elements, ${(byteLength / 1e6).toFixed(1)} MB`],
        goals: [
          {
            what: `p99 of small reads beside ${AT_ONCE} of the largest queries / alone`,
            figure: medianRatio(beside, alone),
            atMost: 3,
            note,
          },
        ],
        data: { elements, byteLength, alone, beside },
      }
    },
  },
]

function requireFailure(answer: string): void {
  const { data, errors } = JSON.parse(answer)
  if (errors?.length !== 1 || data?.me?.projects?.length === undefined) throw new Error(`not one failure: ${answer}`)
}

function largeRequest({ owner }: LargeExport, elements: number) {
  const query = `{ me { latestExport(ref: "large") { elements(first: ${elements}) { path content } } } }`
  return {
    path: `/graphql?${new URLSearchParams({ query })}`,
    headers: { authorization: `Bearer ${owner.accessToken}`, accept: APOLLO_ACCEPT, 'accept-encoding': 'identity' },
  }
}

async function largestAllowed(gateway: ServerProcess, large: LargeExport) {
  for (let elements = MOST_ELEMENTS; elements >= 1; elements = Math.floor(elements * 0.8)) {
    const { path, headers } = largeRequest(large, elements)
    const response = await fetch(`${gateway.url}${path}`, { headers })
    const text = await response.text()
    if (response.status === 200 && !text.startsWith('{"errors"'))
      return { elements, byteLength: Buffer.byteLength(text) }
  }
  throw new Error('no answer is allowed')
}

/** The p99 of each round, alone and with large queries in flight all the time. */
async function measureBeside(bench: Bench, gateway: ServerProcess, large: LargeExport, elements: number) {
  const plan = uniformPlan(PROJECT_LIST, large.smallUsers)
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < bench.rounds; round += 1) {
    alone.push((await bench.load.measure(gateway, plan, bench)).p99Milliseconds)
    await using _ = keepAsking(gateway, large, elements)
    beside.push((await bench.load.measure(gateway, plan, bench)).p99Milliseconds)
  }
  return { alone, beside }
}

function keepAsking(gateway: ServerProcess, large: LargeExport, elements: number): AsyncDisposable {
  const { path, headers } = largeRequest(large, elements)
  // A query that is refused while others are in flight is sent again.
  return keepRunning(AT_ONCE, () => download(`${gateway.url}${path}`, headers, 1).catch(() => null))
}
