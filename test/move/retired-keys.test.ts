// A signing key that is retired after a move has copied it: in the end its private part is in no file of the target.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { move } from '../../src/migration/offline.ts'
import { moveOnline } from '../../src/migration/online.ts'
import type { TracesLeftError } from '../../src/store/contract.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { openStore } from '../../src/store/open-store.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { execute, openHand, POSTGRES_DIRECTORY } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const STORE = { lockTimeoutMs: 500, connectTimeoutMs: 2_000, statementTimeoutMs: 30_000, poolSize: 4, onFatal() {} }
const OPTIONS = {
  maxPauseMs: 30_000,
  onProgress() {},
  onPhase() {},
  onCancelFailed() {},
  stop: new AbortController().signal,
}
const SECRET = 'a-private-part-that-is-as-long-as-one-of-a-key-0123456789'
const TABLE = 'workspace_gateway.signing_key'

interface Place {
  readonly url: string
  readonly isInFiles: () => Promise<boolean>
  /** Reads the current state in a snapshot that stays open until the end of the test. */
  readonly read: () => Promise<void>
}

async function onSqlite(): Promise<Place> {
  const path = join(temporaryDirectory(), 'workspace.db')
  return {
    url: `file:${path}`,
    isInFiles: async () =>
      ['', '-wal'].some((suffix) => existsSync(path + suffix) && readFileSync(path + suffix).includes(SECRET)),
    async read() {
      const reader = await openStore(`file:${path}`, STORE)
      const snapshot = await reader.openSnapshot()
      onTestFinished(async () => {
        await snapshot[Symbol.asyncDispose]()
        await reader[Symbol.asyncDispose]()
      })
    },
  }
}

const ownDatabase = ownPostgres()

async function onPostgres(): Promise<Place> {
  const url = await ownDatabase()
  return {
    url,
    async isInFiles() {
      await execute(url, 'checkpoint')
      const file = `pg_read_binary_file(pg_relation_filepath('${TABLE}'))`
      const [found] = await execute(url, `select (position('${SECRET}'::bytea in ${file}) > 0)::text as "isThere"`)
      return found?.isThere === 'true'
    },
    async read() {
      await openHand(url, `begin isolation level repeatable read; select 1 from ${TABLE}`)
    },
  }
}

async function open(url: string): Promise<MigratableStore> {
  const store = await openStore(url, STORE)
  onTestFinished(() => store[Symbol.asyncDispose]())
  return store
}

const KEYS = [
  { kid: 'old', privateJwk: `{"d":"${SECRET}"}`, createdAt: 1 },
  { kid: 'new', privateJwk: `{"d":"${'another'.repeat(8)}"}`, createdAt: 2 },
] as const

describe.each([
  { engine: 'SQLite', isThere: true, make: onSqlite },
  { engine: 'PostgreSQL', isThere: POSTGRES_DIRECTORY !== null, make: onPostgres },
])('on $engine', ({ isThere, make }) => {
  async function fill(): Promise<MigratableStore> {
    const from = await open((await make()).url)
    await from.addSigningKey(KEYS[0], null)
    await from.addSigningKey(KEYS[1], 'old')
    return from
  }

  test.skipIf(!isThere)('an online move leaves the key in no file of the target', async () => {
    const [from, there] = [await fill(), await make()]
    const to = await open(there.url)
    let isRetired = false
    const source: MigratableStore = {
      ...from,
      // By then everything has been copied.
      async fenceWrites(...asked) {
        if (!isRetired) {
          expect(await there.isInFiles()).toBe(true)
          await from.removeSigningKey('old')
        }
        isRetired = true
        return from.fenceWrites(...asked)
      },
    }
    await moveOnline(source, to, {
      ...OPTIONS,
      onTracesLeft(error) {
        throw error
      },
    })
    expect((await to.signingKeys()).map(({ kid }) => kid)).toEqual(['new'])
    expect(await there.isInFiles()).toBe(false)
  })

  test.skipIf(!isThere)('a repeated move leaves the key in no file of the target, or reports traces', async () => {
    const [from, there] = [await fill(), await make()]
    const to = await open(there.url)
    const told: TracesLeftError[] = []
    const options = { ...OPTIONS, onTracesLeft: (error: TracesLeftError) => told.push(error) }
    await move(from, to, options)
    await from.rewriteSigningKeys([{ ...KEYS[0], privateJwk: '{"d":"sealed"}' }])
    await move(from, to, options)
    expect([told, await there.isInFiles()]).toEqual([[], false])

    await from.rewriteSigningKeys([KEYS[0]])
    await move(from, to, options)
    await there.read()
    await from.removeSigningKey('old')
    await move(from, to, options)
    expect(told).toHaveLength(1)
    expect((await to.signingKeys()).map(({ kid }) => kid)).toEqual(['new'])
  })
})
