import { describe, expect, test } from 'vitest'
import { runHistories } from './histories/run-histories.ts'
import { POSTGRES_DIRECTORY, temporaryServer } from './support/postgres.ts'

describe.skipIf(POSTGRES_DIRECTORY === null)('random histories over four gateways on one PostgreSQL', () => {
  test.each([
    ['undisturbed', null],
    ['with the database and gateways killed meanwhile', 500],
  ])('%s: no success after logout, no stale read, no acknowledged write lost', async (_name, killEveryMs) => {
    const server = await temporaryServer()
    const seed = Date.now() % 100_000
    const report = await runHistories({
      server,
      histories: killEveryMs === null ? 40 : 100,
      concurrency: 16,
      steps: 8,
      gateways: 4,
      seed,
      killEveryMs,
    })
    expect(report.violations, `seed ${seed}`).toEqual([])
    expect(report.lateSuccesses).toBe(0)
    if (killEveryMs === null) expect(report.unavailable).toBe(0)
    else expect(report.databaseKills + report.gatewayKills).toBeGreaterThan(0)
  })
})
