// node store-reads.ts WAY URL SECONDS ROUNDS: measures a signed-in read of the store (the session and one list of
// documents), or a bare query of the same documents. Reads session ids as JSON from stdin. Prints a JSON list with one
// entry per round.
import { text } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { batchPerTurn } from '../../src/store/batch-per-turn.ts'
import type { DocumentList, Page, StoredDocument } from '../../src/store/contract.ts'
import { openStore } from '../../src/store/open-store.ts'
import { DOCUMENT_KEY, KIND_CODES, MAX_DOCUMENT_POSITION } from '../../src/store/sqlite/engine/row-ids.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'

export type StoreReadWay = 'store' | 'sqlite' | 'pg'

export interface StoreReads {
  readonly readsPerSecond: number
  readonly cpuMicrosecondsPerRead: number
}

interface Subject extends AsyncDisposable {
  /** Returns the number of documents of the session's user. `reader` is the index of the concurrent reader. */
  readonly read: (session: string, reader: number) => number | Promise<number>
  readonly readers: number
}

const READERS = 100
const CONNECTIONS = 10
const OPTIONS = {
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 3_000,
  statementTimeoutMs: 10_000,
  poolSize: CONNECTIONS,
  onFatal() {},
}

const WAYS: Readonly<Record<StoreReadWay, (url: string, sessions: readonly string[]) => Promise<Subject>>> = {
  async store(url) {
    const store = await openStore(url, OPTIONS)
    const session = batchPerTurn((ids: readonly string[]) => store.liveSessions(ids, Date.now()), setImmediate)
    const documents = batchPerTurn<DocumentList & Page, readonly StoredDocument[]>(store.documentsOf, process.nextTick)
    return {
      readers: READERS,
      async read(id) {
        const live = await session(id)
        return (await documents({ userId: live?.userId ?? 0, kind: 'project', after: 0, limit: null })).length
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    }
  },

  async sqlite(url, sessions) {
    const database = new Database(url.slice('file:'.length), { readonly: true })
    const owner = database
      .prepare<[string], number>('select (select id from user u where u.email = s.email) from session s where id = ?')
      .pluck()
    const userIds = new Map(sessions.map((id) => [id, owner.get(id) ?? 0]))
    const documents = database.prepare<[number, number, number, number, number, number]>(
      `select id, ref, text from document where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key`,
    )
    const code = KIND_CODES.project
    return {
      readers: 1,
      read(id) {
        const userId = userIds.get(id) ?? 0
        return documents.all(userId, code, 0, userId, code, MAX_DOCUMENT_POSITION).length
      },
      async [Symbol.asyncDispose]() {
        database.close()
      },
    }
  },

  async pg(url, sessions) {
    const clients = Array.from({ length: CONNECTIONS }, () => new Client({ connectionString: url }))
    for (const client of clients) await client.connect()
    const { rows } = (await clients[0]?.query<{ id: string; userId: string }>(
      `select s.id, u.id as "userId" from workspace_gateway.session s join workspace_gateway.user u on u.email = s.email
       where s.id = any($1)`,
      [sessions],
    )) ?? { rows: [] }
    const userIds = new Map(rows.map(({ id, userId }) => [id, userId]))
    const text = `select id, ref, text from workspace_gateway.document
      where user_id = $1 and kind = 'project' order by position`
    return {
      readers: CONNECTIONS,
      async read(id, reader) {
        const found = await clients[reader]?.query({ name: 'bare', text, values: [userIds.get(id)] })
        return found?.rows.length ?? 0
      },
      async [Symbol.asyncDispose]() {
        for (const client of clients) await client.end()
      },
    }
  },
}

const [way = '', url = '', seconds = '', rounds = ''] = process.argv.slice(2)
const sessions = JSON.parse(await text(process.stdin)) as readonly string[]
const random = seededRandom(1)
{
  await using subject = await WAYS[way as StoreReadWay](url, sessions)
  await measure(subject)
  const measured: StoreReads[] = []
  for (let round = 0; round < Number(rounds); round += 1) measured.push(await measure(subject))
  process.stdout.write(JSON.stringify(measured))
}

async function measure({ read, readers }: Subject): Promise<StoreReads> {
  const start = performance.now()
  const cpu = process.cpuUsage()
  let reads = 0
  await Promise.all(
    Array.from({ length: readers }, async (_, reader) => {
      while (performance.now() - start < Number(seconds) * 1_000) {
        const session = sessions[Math.floor(random() * sessions.length)] ?? ''
        if ((await read(session, reader)) === 0) throw new Error(`${way}: no documents`)
        reads += 1
      }
    }),
  )
  const { user, system } = process.cpuUsage(cpu)
  return {
    readsPerSecond: (1_000 * reads) / (performance.now() - start),
    cpuMicrosecondsPerRead: (user + system) / reads,
  }
}
