// Users whose old email belongs to somebody else by the time a move reaches them.
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { move } from '../../src/migration/offline.ts'
import { moveOnline } from '../../src/migration/online.ts'
import type { Change } from '../../src/store/contract.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { openStore } from '../../src/store/open-store.ts'
import { put } from '../contract/values.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const STORE = { lockTimeoutMs: 5_000, connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 10, onFatal() {} }
const OPTIONS = { onProgress() {}, onTracesLeft() {}, stop: new AbortController().signal }
const ENGINES = [
  { engine: 'SQLite', isThere: true, make: async () => `file:${join(temporaryDirectory(), 'workspace.db')}` },
  { engine: 'PostgreSQL', isThere: POSTGRES_URL !== null, make: temporaryDatabase },
]
const PAIRS = Array.from({ length: 6 }, (_, index) => [`a-${index}@example.com`, `b-${index}@example.com`] as const)

const documents = (email: string, count: number): readonly Change[] =>
  Array.from({ length: count }, (_, index) => put({ email, id: `p-${index}`, ref: `r-${index}`, text: `"${email}"` }))

/** One user of each pair has few documents and the other many, so that either may be copied first. */
async function fill(store: MigratableStore): Promise<void> {
  for (const [a, b] of PAIRS) await store.applyChanges([...documents(a, 2), ...documents(b, 60)])
}

async function worldOf(store: MigratableStore): Promise<readonly unknown[]> {
  const users = await store.usersAfter('', 100)
  return Promise.all(
    users.map(async (user) => [
      user,
      await store.documentsOf([{ userId: user.id, kind: 'project', after: 0, limit: null }]),
    ]),
  )
}

const RENAMINGS = {
  'users who swap their emails': async (store: MigratableStore) => {
    for (const [a, b] of PAIRS) {
      await store.renameUser(a, 'nobody@example.com')
      await store.renameUser(b, a)
      await store.renameUser('nobody@example.com', b)
    }
  },
  'renamed users, and new users with their old emails': async (store: MigratableStore) => {
    for (const [a, b] of PAIRS) {
      for (const email of [a, b]) {
        await store.renameUser(email, `was-${email}`)
        await store.applyChanges(documents(email, 3))
      }
    }
  },
}

describe.each(ENGINES)('on $engine', ({ isThere, make }) => {
  async function open(): Promise<MigratableStore> {
    const store = await openStore(await make(), STORE)
    onTestFinished(() => store[Symbol.asyncDispose]())
    return store
  }

  describe.each(Object.entries(RENAMINGS))('%s', (_, rename) => {
    test.skipIf(!isThere)('are the same as in the source after a repeated move', async () => {
      const [from, to] = [await open(), await open()]
      await fill(from)
      await move(from, to, OPTIONS)
      await rename(from)
      await move(from, to, OPTIONS)
      expect(await worldOf(to)).toEqual(await worldOf(from))
    })

    test.skipIf(!isThere)('are the same as in the source after an online move that catches up with them', async () => {
      const [from, to] = [await open(), await open()]
      await fill(from)
      let isRenamed = false
      const source: MigratableStore = {
        ...from,
        // By then everything has been copied.
        async drainChangeLog(moveId) {
          if (!isRenamed) await rename(from)
          isRenamed = true
          return from.drainChangeLog(moveId)
        },
      }
      await moveOnline(source, to, { ...OPTIONS, maxPauseMs: 30_000, onPhase() {}, onCancelFailed() {} })
      expect(await worldOf(to)).toEqual(await worldOf(from))
    })
  })
})
