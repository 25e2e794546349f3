// npm run test:histories [-- HISTORIES [SEED]]: plays the histories undisturbed, then while the database and gateways
// are killed again and again, then a tenth of them with a lagging replica.
import { startReplicated } from '../support/postgres-replica.ts'
import { startPostgres, unpackPostgres } from '../support/postgres-server.ts'
import { type HistoriesOptions, type HistoriesReport, runHistories } from './run-histories.ts'

const KILL_EVERY_MS = 1_500

const [, , histories = '10000', seed = String(Date.now() % 100_000)] = process.argv
const settings = { fsync: 'on' }

await using binaries = await unpackPostgres()
await using server = await startPostgres(binaries, { settings })
await run('undisturbed', { server, histories: Number(histories), killEveryMs: null })
await run(`a kill -9 every ${KILL_EVERY_MS} ms`, { server, histories: Number(histories), killEveryMs: KILL_EVERY_MS })
await server.stop()
await using replica = await startReplicated(binaries)
await run('reading from a replica that lags', {
  server: replica.primary,
  replica,
  histories: Math.ceil(Number(histories) / 10),
  killEveryMs: null,
})

async function run(
  name: string,
  options: Pick<HistoriesOptions, 'server' | 'replica' | 'histories' | 'killEveryMs'>,
): Promise<void> {
  console.log(`${options.histories} histories over 4 gateways, seed ${seed}: ${name}`)
  const report = await runHistories({
    ...options,
    concurrency: 48,
    steps: 10,
    gateways: 4,
    seed: Number(seed) + (options.killEveryMs ?? 0),
    onProgress: (soFar) => console.log(`  ${toText(soFar)}`),
  })
  for (const violation of report.violations.slice(0, 100)) console.error(violation)
  const isGood = report.violations.length === 0 && report.lateSuccesses === 0
  console.log(`${isGood ? 'good' : 'BAD'}: ${toText(report)}`)
  if (!isGood) process.exitCode = 1
}

function toText(report: HistoriesReport): string {
  const recoveries = report.recoveriesMs.toSorted((a, b) => a - b)
  return [
    `${report.violations.length} violations`,
    `${report.lateSuccesses} successes within the bound after a logout`,
    `${report.histories} histories`,
    `${report.operations} operations`,
    `${report.acknowledgedLogins} logins, ${report.acknowledgedLogouts} logouts, ${report.acknowledgedImports} imports acknowledged`,
    `${report.unavailable} times unavailable`,
    `${report.databaseKills} kills of the database, ${report.gatewayKills} of gateways`,
    ...(recoveries.length === 0
      ? []
      : [
          `all gateways ready again by themselves after ${recoveries[recoveries.length >> 1]} ms (median), ${recoveries.at(-1)} ms (longest)`,
        ]),
    `longest time without any success ${Math.round(report.longestOutageMs)} ms`,
    `${Math.round(report.seconds)} s`,
  ].join('; ')
}
