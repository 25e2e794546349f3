// Plays many random histories over several gateways on one PostgreSQL, while things are broken if asked to.
import { setTimeout as delay } from 'node:timers/promises'
import { openStore } from '../../src/store/open-store.ts'
import { type ServingProcess, serve } from '../support/command-line.ts'
import type { ReplicatedServers } from '../support/postgres-replica.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { startBalancer } from './balancer.ts'
import { createHistoryClient } from './client.ts'
import { type PlayedHistory, playHistory, type Tally } from './history.ts'

export interface HistoriesOptions {
  readonly server: PostgresServer
  /** Gateways read from it where it is up to date; it is made to lag now and then. */
  readonly replica?: ReplicatedServers
  readonly histories: number
  /** How many histories run at the same time. */
  readonly concurrency: number
  readonly steps: number
  readonly gateways: number
  readonly seed: number
  /** Milliseconds between one kill -9 of the database or a gateway and the next; null for none. */
  readonly killEveryMs: number | null
  readonly onProgress?: (soFar: HistoriesReport) => void
}

export interface HistoriesReport extends Tally {
  databaseKills: number
  gatewayKills: number
  /** For each kill of the database: how long it took, its restart included, until every gateway was ready by itself. */
  readonly recoveriesMs: number[]
  seconds: number
}

const SHORT_TIMEOUTS = ['--connect-timeout', '2000', '--statement-timeout', '3000']
/** Where nothing is killed, only a machine that stands still for a while would exceed the short ones. */
const LONG_TIMEOUTS = ['--connect-timeout', '60000', '--statement-timeout', '60000']
const PROGRESS_HISTORIES = 1_000
/** If it takes longer after the restart of the database, a gateway has not recovered. */
const RECOVERY_MS = 20_000

export async function runHistories(options: HistoriesOptions): Promise<HistoriesReport> {
  const { server, replica, killEveryMs } = options
  const random = createRandom(options.seed)
  const database = server.url('postgres')
  const replicaOption = replica ? ['--database-replica', replica.standby.url('postgres')] : []
  const timeouts = killEveryMs === null ? LONG_TIMEOUTS : SHORT_TIMEOUTS
  const args = ['--database', database, ...replicaOption, ...timeouts, '--log-level', 'silent']
  // All at the same time, on an empty database.
  const gateways: ServingProcess[] = await Promise.all(Array.from({ length: options.gateways }, () => serve(args)))
  await using store = await openStore(database, {
    lockTimeoutMs: 1,
    connectTimeoutMs: 2_000,
    statementTimeoutMs: 3_000,
    poolSize: 8,
    onFatal() {},
  })
  await using balancer = await startBalancer(() => gateways.map(({ url }) => Number(new URL(url).port)), random)
  using client = createHistoryClient(balancer.url, random)
  const start = performance.now()
  const report: HistoriesReport = {
    histories: 0,
    operations: 0,
    unavailable: 0,
    acknowledgedLogins: 0,
    acknowledgedLogouts: 0,
    acknowledgedImports: 0,
    lateSuccesses: 0,
    longestOutageMs: 0,
    lastSuccessAt: start,
    databaseKills: 0,
    gatewayKills: 0,
    recoveriesMs: [],
    violations: [],
    seconds: 0,
  }
  let isOver = false

  /** Also kills a gateway if one is given: that one is started again, the others must recover by themselves. */
  async function killDatabase(gateway: number | null): Promise<void> {
    const killedAt = performance.now()
    report.databaseKills += 1
    if (gateway !== null) {
      report.gatewayKills += 1
      await gateways[gateway]?.kill('SIGKILL')
    }
    await server.crash()
    await delay(random() * 500)
    await server.start()
    await Promise.all(gateways.filter((_, index) => index !== gateway).map(requireRecovery))
    report.recoveriesMs.push(Math.round(performance.now() - killedAt))
    if (gateway !== null) gateways[gateway] = await serve(args)
  }

  async function requireRecovery(gateway: ServingProcess): Promise<void> {
    const deadline = performance.now() + RECOVERY_MS
    while (!(await isReady(gateway))) {
      if (performance.now() > deadline) {
        report.violations.push('a gateway did not recover by itself')
        return
      }
      await delay(20)
    }
  }

  async function killGateway(index: number): Promise<void> {
    report.gatewayKills += 1
    await gateways[index]?.kill('SIGKILL')
    await delay(random() * 300)
    gateways[index] = await serve(args)
  }

  async function killing(everyMs: number): Promise<void> {
    for (;;) {
      await delay(everyMs)
      if (isOver) return
      const index = Math.floor(random() * gateways.length)
      if (random() < 0.5) await killGateway(index)
      else await killDatabase(random() < 0.3 ? index : null)
    }
  }

  async function lagging({ pauseReplay, resumeReplay }: ReplicatedServers): Promise<void> {
    while (!isOver) {
      await pauseReplay()
      await delay(random() * 300)
      await resumeReplay()
      await delay(random() * 300)
    }
  }

  const disturbing = [
    ...(killEveryMs === null ? [] : [killing(killEveryMs)]),
    ...(replica && killEveryMs === null ? [lagging(replica)] : []),
  ]
  const world = { client, store, random, tally: report }
  const played: PlayedHistory[] = []
  await inParallel(options.concurrency, options.histories, async (number) => {
    played.push(await playHistory(world, `h${number}-${options.seed}@example.com`, options.steps))
    report.seconds = (performance.now() - start) / 1_000
    if (played.length % PROGRESS_HISTORIES === 0) options.onProgress?.(report)
  })
  isOver = true
  await Promise.all(disturbing)
  // After one more crash everything acknowledged is still there, and every gateway answers without a restart.
  if (killEveryMs !== null) await killDatabase(null)
  await Promise.all(gateways.map(requireRecovery))
  await inParallel(options.concurrency, played.length, async (number) => played[number - 1]?.audit())
  await Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL')))
  return { ...report, seconds: (performance.now() - start) / 1_000 }
}

async function isReady({ url }: ServingProcess): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`)
    await response.text()
    return response.status === 200
  } catch {
    return false
  }
}

/** Runs `run(1)` to `run(count)`, `concurrency` at a time. */
async function inParallel(concurrency: number, count: number, run: (number: number) => unknown): Promise<void> {
  let started = 0
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (started < count) {
        started += 1
        await run(started)
      }
    }),
  )
}

/** Mulberry32: the same seed gives the same histories, as far as timing allows. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
