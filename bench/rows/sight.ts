// Rows about the cost of observability: processor time per request with metrics, the request log or traces, compared
// with a gateway without them. Two starts of a process differ by more than the effect, so each gateway is started once
// per round. All gateways of a round run together and are measured in turn, because the speed of the machine varies.
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

/** Measurements per start. */
const TIMES = 6

interface Seen {
  readonly name: string
  readonly options: readonly string[]
  /** Maximum processor time per request, as a multiple of that without observability. */
  readonly atMost: number
}

const NOTHING_SEEN: Seen = { name: 'without', options: [], atMost: 1 }
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
    const contenders = [NOTHING_SEEN, ...SEEN]
    const costs = contenders.map((): number[] => [])
    for (let start = 0; start < bench.rounds; start += 1) {
      await using servers = new AsyncDisposableStack()
      const started: ServerProcess[] = []
      for (const seen of contenders) {
        const env = seen.name === 'traces' ? { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } : {}
        started.push(servers.use(await startSeen(bench, ['--database', databaseUrl, ...options, ...seen.options], env)))
      }
      const least = await leastCosts(bench, started, plan)
      least.forEach((cost, index) => {
        costs[index]?.push(cost)
      })
    }
    const [without = []] = costs
    const compared = contenders.map((seen, index) => ({
      ...seen,
      cpu: median(costs[index] ?? []),
      ratio: medianRatio(costs[index] ?? [], without),
      costs: costs[index],
    }))
    return {
      lines: compared.map(
        ({ name: who, cpu, ratio }) =>
          `${who.padEnd(24)}${cpu.toFixed(2).padStart(8)} µs CPU${ratio.toFixed(3).padStart(8)}`,
      ),
      goals: compared.slice(1).map(({ name: who, ratio, atMost }) => ({
        what: `CPU per request with ${who} / without`,
        figure: ratio,
        atMost,
      })),
      data: compared,
    }
  },
}))

/**
 * The minimum of several measurements of each server, in microseconds: other work on the machine can only add to the
 * cost.
 */
async function leastCosts(bench: Bench, servers: readonly ServerProcess[], plan: LoadPlan): Promise<readonly number[]> {
  for (const server of servers) {
    await bench.load.warmUp(server, plan)
    await bench.load.measure(server, plan, { seconds: bench.seconds })
  }
  const least = servers.map(() => Number.POSITIVE_INFINITY)
  for (let time = 0; time < TIMES; time += 1) {
    // The order alternates, so that each server is first as often as last.
    for (const index of time % 2 === 0 ? servers.keys() : [...servers.keys()].toReversed()) {
      const server = servers[index]
      if (!server) continue
      const { cpuMicrosecondsPerRequest } = await bench.load.measure(server, plan, { seconds: bench.seconds })
      least[index] = Math.min(least[index] ?? Number.POSITIVE_INFINITY, cpuMicrosecondsPerRequest)
    }
  }
  return least
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
