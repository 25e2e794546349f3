// Rows about the cost of observability: processor time per request with metrics, the request log or traces, compared
// with two gateways without them. Two starts of a process differ by more than the effect, and the one started first is
// often the cheapest, so each gateway is started once per round, in another order each time. All gateways of a round run
// together and are measured in short turns, because the speed of the machine varies.
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { type LoadPlan, type LoadRequest, uniformPlan } from '../load/plan.ts'
import { median, medianRatio } from '../measuring/figures.ts'
import { type ServerProcess, startServer } from '../measuring/server-process.ts'
import type { Row } from '../row.ts'
import { PROJECT_LIST, PROJECTS } from './requests.ts'

/** Turns per start. In each, every gateway is measured once, for a part of the time of other rows. */
const TURNS = 12
const TURN_PART = 0.5

interface Seen {
  readonly name: string
  readonly options: readonly string[]
  /** Maximum processor time per request, as a multiple of that without observability. */
  readonly atMost: number
}

const WITHOUT = ['without', 'also without']
const SEEN: readonly Seen[] = [
  { name: 'metrics', options: ['--admin-port', '0'], atMost: 1.01 },
  { name: 'access log', options: ['--access-log', 'json'], atMost: 1.03 },
  { name: 'traces', options: [], atMost: 1.15 },
]

const CASES: readonly { readonly name: string; readonly request: LoadRequest; readonly options: readonly string[] }[] =
  [
    { name: 'sight-rest-kept', request: PROJECTS, options: [] },
    { name: 'sight-graphql-executed', request: PROJECT_LIST, options: ['--cache-bytes', '0'] },
  ]

export const SIGHT_ROWS: readonly Row[] = CASES.map(({ name, request, options }) => ({
  name,
  async run(bench) {
    const { databaseUrl, users } = await bench.workspace()
    const plan = uniformPlan(request, users)
    await using stack = new AsyncDisposableStack()
    const receiver = stack.adopt(await startReceiver(), (server) => {
      server.close()
      server.closeAllConnections()
    })
    const { port } = receiver.address() as AddressInfo
    const gateways = [...WITHOUT.map((without) => ({ name: without, options: [] })), ...SEEN]
    const ratios = gateways.map((): number[] => [])
    for (let round = 0; round < bench.rounds; round += 1) {
      await using servers = new AsyncDisposableStack()
      const started: ServerProcess[] = []
      for (const index of rotated(gateways.length, round)) {
        const { name: seen = '', options: own = [] } = gateways[index] ?? {}
        const env = seen === 'traces' ? { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } : {}
        started[index] = servers.use(await startSeen(bench, ['--database', databaseUrl, ...options, ...own], env))
      }
      const compared = await compare(bench, started, plan)
      compared.forEach((ratio, index) => {
        ratios[index]?.push(ratio)
      })
    }
    const medians = ratios.map(median)
    const again = medianRatio(ratios[1] ?? [], ratios[0] ?? [])
    return {
      lines: gateways.map(({ name: who }, index) => `${who.padEnd(24)}${medians[index]?.toFixed(3).padStart(8)}`),
      goals: SEEN.map(({ name: who, atMost }, index) => ({
        what: `CPU per request with ${who} / without`,
        figure: medians[WITHOUT.length + index] ?? Number.NaN,
        atMost,
        note: `two without compared in the same way: ${again.toFixed(3)}`,
      })),
      data: gateways.map(({ name: who }, index) => ({ name: who, ratios: ratios[index] })),
    }
  },
}))

/** The numbers below `count`, in order, from another first one in each turn. */
function rotated(count: number, turn: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => (index + turn) % count)
}

/** The processor time per request of each server, divided by the mean of those without: the medians of all turns. */
async function compare(bench: Bench, servers: readonly ServerProcess[], plan: LoadPlan): Promise<readonly number[]> {
  for (const server of servers) {
    await bench.load.warmUp(server, plan)
    await bench.load.measure(server, plan, { seconds: bench.seconds })
  }
  const seconds = bench.seconds * TURN_PART
  const ratios = servers.map((): number[] => [])
  for (let turn = 0; turn < TURNS; turn += 1) {
    const fromStep = Math.floor((turn / TURNS) * plan.userOf.length)
    const costs: number[] = []
    for (const index of rotated(servers.length, turn)) {
      const server = servers[index]
      if (!server) continue
      const { cpuMicrosecondsPerRequest } = await bench.load.measure(server, plan, { seconds, fromStep })
      costs[index] = cpuMicrosecondsPerRequest
    }
    const base = costs.slice(0, WITHOUT.length).reduce((sum, cost) => sum + cost, 0) / WITHOUT.length
    costs.forEach((cost, index) => {
      ratios[index]?.push(cost / base)
    })
  }
  return ratios.map(median)
}

/** Starts a gateway whose log goes to a file, as under a service manager. */
async function startSeen(
  bench: Bench,
  options: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const file = openSync(join(bench.directory, 'sight.log'), 'w')
  const args = [bench.program, 'serve', '--port', '0', '--access-token-ttl', '86400', '--log-level', 'warn', ...options]
  try {
    return await startServer(bench.onServerProcessor, args, env, file)
  } finally {
    closeSync(file)
  }
}

/** Accepts and discards traces, like a collector. */
async function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
