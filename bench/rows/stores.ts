// Rows about a signed-in read in the store alone, on each engine, compared with a bare query of the same rows by the
// driver.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from 'jose'
import type { Bench } from '../bench.ts'
import type { SignedIn } from '../data/workspaces.ts'
import { medianOf } from '../measuring/figures.ts'
import type { StoreReads, StoreReadWay } from '../programs/store-reads.ts'
import type { Row, RowResult } from '../row.ts'
import { withPostgres } from './postgres.ts'

const STORE_READS = fileURLToPath(new URL('../programs/store-reads.ts', import.meta.url))

export const STORE_ROWS: readonly Row[] = [
  {
    name: 'store-sqlite',
    async run(bench) {
      const { databaseUrl, users } = await bench.workspace()
      return compare(bench, databaseUrl, users, 'sqlite', 'better-sqlite3: the documents alone')
    },
  },
  {
    name: 'store-postgres',
    run: (bench) =>
      withPostgres(bench, ({ databaseUrl, users }) =>
        compare(bench, databaseUrl, users, 'pg', 'pg, 10 connections: the documents alone'),
      ),
  },
]

async function compare(
  bench: Bench,
  databaseUrl: string,
  users: readonly SignedIn[],
  bareWay: StoreReadWay,
  bareName: string,
): Promise<RowResult> {
  const sessions = users.map(({ accessToken }) => decodeJwt(accessToken).sid)
  const data = []
  for (const [name, way] of [
    [bareName, bareWay],
    ['the store: session and documents', 'store'],
  ] as const) {
    const rounds = await measure(bench, way, databaseUrl, JSON.stringify(sessions))
    data.push({ name, median: medianOf(rounds), rounds })
  }
  const lines = data.map(
    ({ name, median }) =>
      name.padEnd(44) +
      `${median.readsPerSecond.toFixed(0)} reads/s`.padStart(16) +
      `${median.cpuMicrosecondsPerRead.toFixed(1)} µs CPU`.padStart(15),
  )
  return { lines, goals: [], data }
}

function measure(bench: Bench, way: StoreReadWay, databaseUrl: string, input: string): Promise<readonly StoreReads[]> {
  const size = [String(bench.seconds), String(bench.rounds)]
  const [file = '', ...args] = [...bench.onServerProcessor, process.execPath, STORE_READS, way, databaseUrl, ...size]
  const { promise, resolve, reject } = Promise.withResolvers<readonly StoreReads[]>()
  const child = execFile(file, args, (error, stdout) => {
    if (error) reject(error)
    else resolve(JSON.parse(stdout) as readonly StoreReads[])
  })
  child.stdin?.end(input)
  return promise
}
