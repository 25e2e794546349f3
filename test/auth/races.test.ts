// Tests races over two gateways: ended sessions against reads, and rotated keys against requests.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ROTATION_WORKSPACE, runKeyRotation } from './races/key-rotation.ts'
import { racers, runRevokeRaces } from './races/revoke-races.ts'

test('every gateway refuses an ended session, whatever was in flight: 60 races', async () => {
  const first = await startGateway()
  const second = await startGateway({ databasePath: first.databasePath })
  await first.load(racers(8))
  const report = await runRevokeRaces({ urls: [first.url, second.url], races: 60, concurrency: 8 })
  expect(report).toMatchObject({ races: 60, lateSuccesses: 0 })
  // They were races: some reads succeeded before the session ended.
  expect(report.duringSuccesses).toBeGreaterThan(0)
})

test('a key rotation fails no request on two gateways, and the new keys sign', async () => {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  const options = ['--database', database]
  expect((await runHere(['import', '-', ...options], { stdin: ROTATION_WORKSPACE })).exitCode).toBe(0)
  const gateways = [await serveForTest(options), await serveForTest(options)]
  const report = await runKeyRotation({
    urls: gateways.map(({ url }) => url),
    rotations: 2,
    concurrency: 8,
    requestsPerRotation: 400,
    async rotate() {
      expect((await runHere(['keys', 'rotate', ...options])).exitCode).toBe(0)
    },
  })
  expect(report.failures).toEqual([])
  expect(report.requests).toBeGreaterThanOrEqual(1_200)
  expect(report.kids).toBe(3)
})
