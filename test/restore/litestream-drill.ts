// npm run test:restore [-- MOMENTS]: the real Litestream copies a database that is written to; restored at random moments,
// each copy must be a state that the ledger of acknowledged writes knows, and at most two seconds old.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openStore } from '../../src/store/open-store.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'

/** Litestream 0.3.13, for this machine's kind only: so it is no dependency, but fetched when it is not installed. */
const PACKAGE = '@flydotio/litestream-linux-x64@1.0.1'
const MAX_AGE_MS = 2_000
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

/** When write n, from 1, was acknowledged. */
const ledger: number[] = []
let isOver = false

async function writeAlways(): Promise<void> {
  while (!isOver) {
    const n = ledger.length + 1
    await store.applyChanges([
      { type: 'putDocument', email: EMAIL, kind: 'project', id: 'p', ref: 'p', text: `{"n":${n}}` },
      { type: 'putDocument', email: EMAIL, kind: 'template', id: `${n}`, ref: null, text: `{"n":${n}}` },
    ])
    ledger.push(Date.now())
    await delay(random.below(20))
  }
}

let worstMs = 0
let bad = 0
const writing = writeAlways()
await delay(3_000)
for (let moment = 0; moment < moments; moment += 1) {
  await delay(random.below(3_000))
  const [askedAt, acknowledged] = [Date.now(), ledger.length]
  const copy = join(directory, `copy-${moment}.db`)
  const { status, stderr } = spawnSync(litestream, ['restore', '-o', copy, replica])
  const n = status === 0 ? readCopy(copy) : null
  const ageMs = n === null || n >= acknowledged ? 0 : askedAt - (ledger[n] ?? askedAt)
  worstMs = Math.max(worstMs, ageMs)
  const isGood = n !== null && ageMs <= MAX_AGE_MS
  if (!isGood) bad += 1
  console.log(
    `${isGood ? 'good' : 'BAD'}: restored write ${n} of ${acknowledged}, ${ageMs} ms old ${status === 0 ? '' : stderr}`,
  )
}
isOver = true
await writing
const ended = once(replicating, 'exit')
replicating.kill('SIGTERM')
await ended
console.log(
  `${bad === 0 ? 'good' : 'BAD'}: ${moments} moments, ${bad} wrong, at most ${worstMs} ms old, ${ledger.length} writes`,
)
removeDirectory(directory)
process.exitCode = bad === 0 ? 0 : 1

/** The number of the last write in it; null when it is no state that ever was. */
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
