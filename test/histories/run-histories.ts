// Many random histories over several gateways on one PostgreSQL, with or without things being killed meanwhile.
import { setTimeout as delay } from 'node:timers/promises'
import { openStore } from '../../src/store/open-store.ts'
import { type ServingProcess, serve } from '../support/command-line.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { startBalancer } from './balancer.ts'
import { runHistory, type Tally } from './history.ts'

export interface HistoriesOptions {
  readonly server: PostgresServer
  readonly histories: number
  /** How many of them run at once. */
  readonly concurrency: number
  readonly steps: number
  readonly gateways: number
  readonly seed: number
  /** Milliseconds between one kill -9 and the next, of the database and of gateways; null for none. */
  readonly killEveryMs: number | null
}

export interface HistoriesReport extends Tally {
  readonly seconds: number
  databaseKills: number
  gatewayKills: number
}

export async function runHistories(options: HistoriesOptions): Promise<HistoriesReport> {
  const { server, killEveryMs } = options
  const random = createRandom(options.seed)
  const database = server.url('postgres')
  const args = [
    '--database',
    database,
    '--log-level',
    'silent',
    '--connect-timeout',
    '2000',
    '--statement-timeout',
    '3000',
  ]
  // Started at once, on an empty database.
  const gateways: ServingProcess[] = await Promise.all(Array.from({ length: options.gateways }, () => serve(args)))
  await using store = await openStore(database, {
    lockTimeoutMs: 1,
    connectTimeoutMs: 2_000,
    statementTimeoutMs: 3_000,
    poolSize: 8,
    onFatal() {},
  })
  await using balancer = await startBalancer(() => gateways.map(({ url }) => Number(new URL(url).port)), random)
  const report = {
    histories: 0,
    operations: 0,
    unavailable: 0,
    acknowledgedWrites: 0,
    lateSuccesses: 0,
    violations: [],
    databaseKills: 0,
    gatewayKills: 0,
  }
  let isOver = false

  async function killNow(): Promise<void> {
    if (random() < 0.5) {
      report.databaseKills += 1
      await server.crash()
      await delay(random() * 500)
      await server.start()
      return
    }
    const index = Math.floor(random() * gateways.length)
    report.gatewayKills += 1
    await gateways[index]?.kill('SIGKILL')
    await delay(random() * 300)
    gateways[index] = await serve(args)
  }

  async function killing(everyMs: number): Promise<void> {
    for (;;) {
      await delay(everyMs)
      if (isOver) return
      await killNow()
    }
  }

  const start = performance.now()
  const killer = killEveryMs === null ? Promise.resolve() : killing(killEveryMs)
  let next = 0
  const world = { url: balancer.url, store, random, tally: report }
  await Promise.all(
    Array.from({ length: options.concurrency }, async () => {
      while (next < options.histories) {
        next += 1
        await runHistory(world, `h${next}-${options.seed}@example.com`, options.steps)
      }
    }),
  )
  isOver = true
  await killer
  await Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL')))
  return { ...report, seconds: (performance.now() - start) / 1_000 }
}

/** mulberry32: the same histories for the same seed, as far as timing allows. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
