// node bench/stores.ts: what a signed-in read (its session and one list of documents) costs on each engine, beside a bare query.
import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { batchPerTurn } from '../src/store/batch-per-turn.ts'
import { openStore } from '../src/store/open-store.ts'
import type { DocumentList, Page, Store } from '../src/store/store.ts'
import { startPostgres, unpackPostgres } from '../test/support/postgres-server.ts'

const USERS = 1_000
const DOCUMENTS_PER_USER = 5
const TEXT_LENGTH = 800
const READERS = 100
const SECONDS = 4
const OPTIONS = {
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 3_000,
  statementTimeoutMs: 10_000,
  poolSize: 10,
  onFatal() {},
}

const sessionIds = Array.from({ length: USERS }, () => randomUUID())

await using binaries = await unpackPostgres()
await using server = await startPostgres(binaries)
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-bench-'))
const path = join(directory, 'workspace.db')

await measureStore('SQLite', `file:${path}`)
await measureBareSqlite()
await measureStore('PostgreSQL', server.url('postgres'))
await measureBarePostgres()
rmSync(directory, { recursive: true })

async function measureStore(name: string, url: string): Promise<void> {
  await using store = await openStore(url, OPTIONS)
  await fill(store)
  const session = batchPerTurn((ids: readonly string[]) => store.liveSessions(ids, Date.now()), setImmediate)
  const documents = batchPerTurn<DocumentList & Page, readonly object[]>(store.documentsOf, process.nextTick)
  await measure(`${name}: a signed-in read of the store`, async (user) => {
    const live = await session(sessionIds[user] ?? '')
    return (await documents({ userId: live?.userId ?? 0, kind: 'project', after: 0, limit: null })).length
  })
}

async function measureBareSqlite(): Promise<void> {
  const database = new Database(path, { readonly: true })
  const statement = database.prepare('select * from document where key > ? and key <= ? order by key')
  const key = (user: number) => (BigInt(user + 1) << 28n) | (1n << 26n)
  await measure(
    'SQLite: the bare query of the documents',
    async (user) => statement.all(key(user), key(user) | 67_108_863n).length,
  )
}

async function measureBarePostgres(): Promise<void> {
  const clients = await Promise.all(
    Array.from({ length: OPTIONS.poolSize }, async () => {
      const client = new Client({ connectionString: server.url('postgres') })
      await client.connect()
      return client
    }),
  )
  const text = `select id, ref, text from workspace_gateway.document where user_id = $1 and kind = 'project' order by position`
  await measure(
    'PostgreSQL: the bare query of the documents',
    async (user, reader) =>
      (await clients[reader]?.query({ name: 'bare', text, values: [user + 1] }))?.rows.length ?? 0,
    clients.length,
  )
  for (const client of clients) await client.end()
}

async function fill(store: Store): Promise<void> {
  const now = Date.now()
  for (let user = 0; user < USERS; user += 1) {
    const email = `u${user}@example.com`
    const id = sessionIds[user] ?? ''
    const refreshHash = createHash('sha256').update(id).digest()
    await store.addSessions([{ id, email, refreshHash, createdAt: now, idleExpiresAt: now * 2, expiresAt: now * 2 }])
    await store.applyChanges(
      Array.from({ length: DOCUMENTS_PER_USER }, (_, index) => ({
        type: 'putDocument',
        email,
        kind: 'project',
        id: `${index}`,
        ref: `${index}`,
        text: JSON.stringify({ id: index, x: 'x'.repeat(TEXT_LENGTH) }),
      })),
    )
  }
}

async function measure(
  name: string,
  read: (user: number, reader: number) => Promise<number>,
  readers = READERS,
): Promise<void> {
  let reads = 0
  const start = performance.now()
  const cpu = process.cpuUsage()
  await Promise.all(
    Array.from({ length: readers }, async (_, reader) => {
      while (performance.now() - start < SECONDS * 1_000) {
        const found = await read(Math.floor(Math.random() * USERS), reader)
        if (found !== DOCUMENTS_PER_USER) throw new Error(`${name}: ${found} documents`)
        reads += 1
      }
    }),
  )
  const { user, system } = process.cpuUsage(cpu)
  const perSecond = Math.round((1_000 * reads) / (performance.now() - start))
  console.log(
    `${name.padEnd(46)} ${String(perSecond).padStart(8)}/s ${((user + system) / reads).toFixed(1).padStart(7)} µs of CPU each`,
  )
}
