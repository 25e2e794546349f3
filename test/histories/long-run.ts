// npm run test:histories [-- HISTORIES [SEED]]: first undisturbed, then with the database and gateways killed all the while.
import { startPostgres, unpackPostgres } from '../support/postgres-server.ts'
import { runHistories } from './run-histories.ts'

const [, , histories = '10000', seed = String(Date.now() % 100_000)] = process.argv

await using binaries = await unpackPostgres()
await using server = await startPostgres(binaries, { settings: { fsync: 'on' } })
for (const killEveryMs of [null, 1_500]) {
  console.log(
    `${histories} histories, seed ${seed}, ${killEveryMs === null ? 'undisturbed' : `a kill every ${killEveryMs} ms`}`,
  )
  const report = await runHistories({
    server,
    histories: Number(histories),
    concurrency: 48,
    steps: 10,
    gateways: 4,
    seed: Number(seed) + (killEveryMs ?? 0),
    killEveryMs,
  })
  console.log(report)
  if (report.violations.length > 0) process.exitCode = 1
}
