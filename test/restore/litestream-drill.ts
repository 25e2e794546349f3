// npm run test:restore [-- MOMENTS]: the real Litestream copies a database while it is written to. The database is restored to its
// newest state at random moments, and then to random moments of the past. Each copy must be a state that the ledger of writes knows,
// must contain nothing later than its moment, and must be at most two seconds old.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openStore } from '../../src/store/open-store.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'

/**
 * Litestream 0.3.13, which is built for this kind of machine only: therefore it is no dependency, and fetched if it is
 * not installed.
 */
const PACKAGE = '@flydotio/litestream-linux-x64@1.0.1'
const MAX_AGE_MS = 2_000
/** After this time the first snapshot exists, and there are writes before the first moment. */
const WARM_UP_MS = 3_000
const EMAIL = 'ana@example.com'

const moments = Number(process.argv[2] ?? 20)
const random = createSeededRandom(Date.now())
const directory = makeDirectory()
const litestream = findLitestream()
const database = join(directory, 'workspace.db')
const replica = `file://${join(directory, 'replica')}`

await using store = await openStore(`file:${database}`, {
  lockTimeoutMs: 10_000,
  connectTimeoutMs: 0,
  statementTimeoutMs: 0,
  poolSize: 1,
  checkpoints: 'external',
  onFatal(error) {
    throw error
  },
})
await store.ping()
const replicating = spawn(litestream, ['replicate', database, replica], { stdio: 'ignore' })

/** When write n, counted from 1, began, and when it was acknowledged. */
const begun: number[] = []
const ledger: number[] = []
let isOver = false

async function writeAlways(): Promise<void> {
  while (!isOver) {
    const n = ledger.length + 1
    begun.push(Date.now())
    await store.applyChanges([
      { type: 'putDocument', email: EMAIL, kind: 'project', id: 'p', ref: 'p', text: `{"n":${n}}` },
      { type: 'putDocument', email: EMAIL, kind: 'template', id: `${n}`, ref: null, text: `{"n":${n}}` },
    ])
    ledger.push(Date.now())
    await delay(random.below(20))
  }
}

let bad = 0
let worstMs = 0

/** Restores a copy as of `moment`, and measures how many milliseconds of acknowledged writes are missing. */
function judge(name: string, moment: number, options: readonly string[]): void {
  const count = (times: readonly number[]) => times.filter((time) => time <= moment).length
  const [acknowledged, started] = [count(ledger), count(begun)]
  const copy = join(directory, 'copy.db')
  const { status, stderr } = spawnSync(litestream, ['restore', ...options, '-o', copy, replica])
  const n = status === 0 ? readCopy(copy) : null
  for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
  const ageMs = n === null || n >= acknowledged ? 0 : moment - (ledger[n] ?? moment)
  worstMs = Math.max(worstMs, ageMs)
  const isLater = options.length > 0 && n !== null && n > started
  const isGood = n !== null && ageMs <= MAX_AGE_MS && !isLater
  if (!isGood) bad += 1
  const why = `${isLater ? `: ${n - started} writes are of later` : ''}${status === 0 ? '' : stderr}`
  console.log(`${isGood ? 'good' : 'BAD'}: ${name}: write ${n} of ${acknowledged}, ${ageMs} ms old ${why}`)
}

const writing = writeAlways()
await delay(WARM_UP_MS)
const from = Date.now()
for (let moment = 0; moment < moments; moment += 1) {
  await delay(random.below(3_000))
  judge('newest', Date.now(), [])
}
// After a pause the past is copied as far as it ever will be.
const to = Date.now()
await delay(MAX_AGE_MS)
for (let moment = 0; moment < moments; moment += 1) {
  const past = from + random.below(to - from)
  judge(`${((to - past) / 1_000).toFixed(1)} s before`, past, ['-timestamp', new Date(past).toISOString()])
}
isOver = true
await writing
const ended = once(replicating, 'exit')
replicating.kill('SIGTERM')
await ended
console.log(
  `${bad === 0 ? 'good' : 'BAD'}: ${moments} moments newest, ${moments} in the past, ${bad} wrong, at most ${worstMs} ms old, ${ledger.length} writes`,
)
removeDirectory(directory)
process.exitCode = bad === 0 ? 0 : 1

/** The number of the last write in the copy; null if the copy is not a state that ever existed. */
function readCopy(path: string): number | null {
  const copy = new Database(path, { readonly: true })
  try {
    if (copy.pragma('integrity_check', { simple: true }) !== 'ok') return null
    const n: unknown = copy
      .prepare(`select json_extract(text, '$.n') from document where kind = 'project'`)
      .pluck()
      .get()
    const templates = copy
      .prepare(`select count(*) = max(json_extract(text, '$.n')) and max(json_extract(text, '$.n')) = ?
        from document where kind = 'template'`)
      .pluck()
      .get(n)
    return typeof n === 'number' && templates === 1 ? n : null
  } finally {
    copy.close()
  }
}

function findLitestream(): string {
  if (spawnSync('litestream', ['version']).status === 0) return 'litestream'
  const prefix = join(directory, 'litestream')
  const installed = spawnSync('npm', ['install', '--no-save', '--prefix', prefix, PACKAGE], { stdio: 'inherit' })
  if (installed.status !== 0) throw new Error('there is no litestream here, and it cannot be fetched')
  return join(prefix, 'node_modules/@flydotio/litestream-linux-x64/litestream')
}
