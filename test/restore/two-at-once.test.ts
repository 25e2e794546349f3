// Tests two restores of one backup into one database: a restore that reports success is right, and nothing of the other
// one remains.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { backupLines, restoreBackup, verifyBackup } from '../../src/migration/backup-records.ts'
import { MoveError } from '../../src/migration/row-copies.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { ANA, NOW, newSession, put } from '../contract/values.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { openTestStore } from '../support/sqlite-store.ts'

/** More than one transaction of a restore writes. */
const SESSIONS = 1_100

const openSqlite = () => openTestStore()

const openPostgres = async () =>
  openPostgresStore(await temporaryDatabase(), { connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 4 })

describe('on SQLite', () => describeRestores(openSqlite))

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => describeRestores(openPostgres))

function describeRestores(open: () => Promise<MigratableStore>): void {
  async function makeBackup() {
    await using store = await openSqlite()
    await store.applyChanges([put()])
    await store.addSessions(Array.from({ length: SESSIONS }, () => newSession()))
    const lines = (await Array.fromAsync(backupLines(store, NOW))).map((line) => line.trimEnd())
    return { lines, digest: await verifyBackup(asStream(lines)) }
  }

  test('a restore that keeps no sessions removes those of an interrupted restore that was to keep them', async () => {
    const { lines, digest } = await makeBackup()
    await using store = await open()
    const broken = async function* () {
      yield* lines.slice(0, -2)
      throw new Error('cut off')
    }
    const restore = (from: AsyncIterable<string>, keepSessions: boolean) =>
      restoreBackup(from, store, { digest, moveId: randomUUID(), keepSessions })
    await expect(restore(broken(), true)).rejects.toThrow('cut off')
    expect(await store.sessionsAfter('', 9)).toHaveLength(9)
    await restore(asStream(lines), false)
    expect(await store.sessionsAfter('', 9)).toEqual([])
    expect(await store.usersAfter('', 9)).toEqual([{ id: 1, email: ANA }])
    expect(await store.moveState()).toMatchObject({ phase: 'live' })
  })

  test('a restore that another one takes over from, even at its very end, does not report success', async () => {
    const { lines, digest } = await makeBackup()
    await using store = await open()
    const other = { digest, moveId: 'other', keepSessions: false }
    const overtaken = {
      ...store,
      async completeTarget(moveId: string) {
        const isMine = await store.completeTarget(moveId)
        await store.reserveTarget({ id: other.moveId, other: `backup ${digest}` })
        return isMine
      },
    }
    const restoring = restoreBackup(asStream(lines), overtaken, { ...other, moveId: 'one' })
    await expect(restoring).rejects.toThrow(new MoveError('another move, or restore, has taken over the target'))
    expect(await store.moveState()).toMatchObject({ phase: 'filling' })
    await restoreBackup(asStream(lines), store, other)
    expect(await store.usersAfter('', 9)).toEqual([{ id: 1, email: ANA }])
  })

  test('of several concurrent restores at least one succeeds, and the others fail with MoveError', async () => {
    const { lines, digest } = await makeBackup()
    await using store = await open()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 3 }, () =>
        restoreBackup(asStream(lines), store, { digest, moveId: randomUUID(), keepSessions: true }),
      ),
    )
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(failed.length).toBeLessThan(3)
    for (const { reason } of failed) expect(reason).toBeInstanceOf(MoveError)
    expect(await store.moveState()).toMatchObject({ phase: 'live' })
    expect(await store.sessionsAfter('', 2 * SESSIONS)).toHaveLength(SESSIONS)
    const [documents] = await store.documentsOf([{ userId: 1, kind: 'project', after: 0, limit: null }])
    expect(documents).toHaveLength(1)
  })
}

async function* asStream(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
