// What it costs to be seen: processor time per request with metrics, the request log, traces, beside a gateway without.
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { Measurement } from '../load/load.ts'
import { type LoadRequest, uniformPlan } from '../load/plan.ts'
import { medianOf, medianRatio } from '../measuring/figures.ts'
import { type ServerProcess, startServer } from '../measuring/server-process.ts'
import type { Row } from '../row.ts'
import { MAIN } from '../servers/start.ts'
import { PROJECT_LIST, PROJECTS } from './requests.ts'

interface Seen {
  readonly name: string
  readonly options: readonly string[]
  /** Of the processor time per request, as a multiple of that without. */
  readonly atMost: number
}

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
    const contenders = [{ name: 'without', options: [], atMost: 1 }, ...SEEN]
    const measured: { readonly seen: Seen; readonly server: ServerProcess; readonly rounds: Measurement[] }[] = []
    for (const seen of contenders) {
      const env = seen.name === 'traces' ? { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } : {}
      const server = stack.use(await start(bench, ['--database', databaseUrl, ...options, ...seen.options], env))
      await bench.load.warmUp(server, plan)
      await bench.load.measure(server, plan, { seconds: bench.seconds })
      measured.push({ seen, server, rounds: [] })
    }
    for (let round = 0; round < bench.rounds; round += 1) {
      // Each is first as often as last.
      for (const { server, rounds } of round % 2 === 0 ? measured : measured.toReversed()) {
        rounds.push(await bench.load.measure(server, plan, { seconds: bench.seconds }))
      }
    }
    const cpuOf = (rounds: readonly Measurement[]) => rounds.map((one) => one.cpuMicrosecondsPerRequest)
    const without = cpuOf(measured[0]?.rounds ?? [])
    const compared = measured.map(({ seen, rounds }) => ({
      ...seen,
      cpu: medianOf(rounds).cpuMicrosecondsPerRequest,
      ratio: medianRatio(cpuOf(rounds), without),
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

/** Its log goes to a file, as it would under a supervisor. */
async function start(
  bench: Bench,
  options: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const file = openSync(join(bench.directory, 'sight.log'), 'w')
  const args = [MAIN, 'serve', '--port', '0', '--access-token-ttl', '86400', '--log-level', 'warn', ...options]
  try {
    return await startServer(bench.onServerProcessor, args, env, file)
  } finally {
    closeSync(file)
  }
}

/** Takes what it is sent, as a collector would. */
async function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
