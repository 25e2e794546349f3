// Random histories of requests to several gateways on one database, checked for stale reads and lost writes.
import { describe, expect, onTestFinished, test } from 'vitest'
import { type HistoriesOptions, type HistoriesReport, runHistories } from './histories/run-histories.ts'
import { POSTGRES_DIRECTORY, temporaryServer } from './support/postgres.ts'
import { startReplicated } from './support/postgres-replica.ts'
import { randomSeed } from './support/seeded-random.ts'

describe.skipIf(POSTGRES_DIRECTORY === null)('random histories over four gateways on one PostgreSQL', () => {
  const seed = Number(process.env.TEST_HISTORIES_SEED ?? randomSeed())

  async function play(
    played: Pick<HistoriesOptions, 'server' | 'replica' | 'histories' | 'killEveryMs'>,
  ): Promise<HistoriesReport> {
    const report = await runHistories({ ...played, concurrency: 16, steps: 8, gateways: 4, seed })
    expect(report.violations, `seed ${seed}`).toEqual([])
    expect(report.lateSuccesses).toBe(0)
    expect(report.histories).toBe(played.histories)
    return report
  }

  test('have no success after logout, no stale read and no lost acknowledged write when undisturbed', async () => {
    const report = await play({ server: await temporaryServer(), histories: 25, killEveryMs: null })
    expect(report.unavailable).toBe(0)
  })

  test('have none of these faults while databases and gateways are killed, and all recover by themselves', async () => {
    const report = await play({ server: await temporaryServer(), histories: 60, killEveryMs: 600 })
    expect(report.databaseKills + report.gatewayKills).toBeGreaterThan(1)
    expect(report.recoveriesMs).toHaveLength(report.databaseKills)
  })

  test('have none of these faults with a replica that lags now and then', async () => {
    const replica = await startReplicated({ directory: POSTGRES_DIRECTORY ?? '' })
    onTestFinished(() => replica[Symbol.asyncDispose]())
    const report = await play({ server: replica.primary, replica, histories: 15, killEveryMs: null })
    expect(report.unavailable).toBe(0)
  })
})
