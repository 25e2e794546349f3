// What a move reads back from its target before it accepts the copy, while somebody else writes to the databases.
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { move } from '../../src/migration/offline.ts'
import { moveOnline } from '../../src/migration/online.ts'
import type { Change } from '../../src/store/contract.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { withCutover } from '../../src/store/cutover/cutover-store.ts'
import { ANA, MADE, newSession, put } from '../contract/values.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { toSuccessor } from '../support/successor.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const OPTIONS = { onProgress() {}, onTracesLeft() {}, stop: new AbortController().signal }

const ONLINE = { ...OPTIONS, maxPauseMs: 30_000, onPhase() {}, onCancelFailed() {} }

interface Opened extends AsyncDisposable {
  readonly store: MigratableStore
  readonly hand: (sql: string) => void
}

async function open(): Promise<Opened> {
  const path = join(temporaryDirectory(), 'workspace.db')
  const store = await openTestStore(path)
  return {
    store,
    hand(sql) {
      const database = new Database(path)
      database.exec(sql)
      database.close()
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

/** The export `[1,2]`. */
const EXPORT = {
  digest: '49a64717d5d4cb19952e6eac2946415cf6879adacf9908e7d872332d32c6e684',
  byteLength: 5,
  elementCount: 2,
}

const LATER = { createdAt: '2026-02-01T00:00:00Z', instant: '2026-02-01T00:00:00.000000000Z' }

function addExport(stage: string, made = MADE): readonly Change[] {
  return [
    { type: 'stageExport', stage, email: ANA, ref: 'r', ...made, now: 0 },
    { type: 'stageElements', stage, position: 1, texts: ['1', '2'], now: 0 },
    { type: 'sealExport', stage, ...EXPORT },
  ]
}

async function openFilled(): Promise<Opened> {
  const opened = await open()
  await opened.store.applyChanges([put(), ...addExport('s')])
  return opened
}

test('a move names the export of the source whose bytes a disk has changed', async () => {
  await using source = await openFilled()
  await using target = await open()
  source.hand("drop trigger export_element_immutable; update export_element set text = '3' where text = '2'")
  await expect(move(source.store, target.store, OPTIONS)).rejects.toThrow(
    /^an export of user 1 .*: remove it, and import it again \("r": "r", "createdAt": "2026-01-01T00:00:00Z"\)$/,
  )
})

/** The same target, in which the last step of the first move fails, as when it is killed. */
function killedAtItsEnd(store: MigratableStore): MigratableStore {
  return {
    ...store,
    async completeTarget() {
      throw new Error('killed')
    },
  }
}

test('a repeated move compares also the elements of exports that an earlier one has copied', async () => {
  await using from = await openFilled()
  await using to = await open()
  await expect(move(from.store, killedAtItsEnd(to.store), OPTIONS)).rejects.toThrow('killed')
  to.hand("drop trigger export_element_immutable; update export_element set text = '3' where text = '2'")
  await expect(move(from.store, to.store, OPTIONS)).rejects.toThrow('user 1 of the source is not the same')
})

test('a repeated move corrects who opened a session, and when it ends', async () => {
  await using from = await openFilled()
  await using to = await open()
  const session = newSession()
  await from.store.addSessions([session])
  await expect(move(from.store, killedAtItsEnd(to.store), OPTIONS)).rejects.toThrow('killed')
  for (const change of ["client = 'another'", 'idle_expires_at = 9', 'expires_at = 9']) {
    to.hand(`update session set ${change}`)
    await expect(move(from.store, killedAtItsEnd(to.store), OPTIONS)).rejects.toThrow('killed')
    const { client, idleExpiresAt, expiresAt } = session
    expect(await to.store.sessionsById([session.id]), change).toMatchObject([{ client, idleExpiresAt, expiresAt }])
  }
})

/** Fills what a user does not own: a session, a signing key, REST calls and a client. */
async function addOthers({ store }: Opened): Promise<void> {
  await store.addSessions([newSession()])
  await store.addSigningKey({ kid: 'k', privateJwk: '{}', createdAt: 1 }, null)
  const calls = { day: '2026-01-01', route: '/projects', client: 'c', count: 1, lastSeen: 1 }
  await store.addRestCalls({ writer: 'w', sequence: 1, calls: [calls] })
  const client = { name: 'shop', domains: ['*'], scopes: ['login'], perMinute: 1, createdAt: 1 } as const
  await store.addClient({ ...client, secretHash: 'hashed' })
}

test.each([
  ['putSession', /^the sessions of the source and the target are not the same/],
  ['putKey', /^the signing keys of the source and the target are not the same/],
  ['putRestCalls', /^the REST calls of the source and the target are not the same/],
  ['putRow', /^the rows of \w+ are not the same in the source and the target/],
])('a move whose target loses each %s fails', async (lost, reason) => {
  await using from = await openFilled()
  await using to = await open()
  await addOthers(from)
  const losing: MigratableStore = {
    ...to.store,
    applyCopies: (moveId, copies) =>
      to.store.applyCopies(
        moveId,
        copies.filter(({ type }) => type !== lost),
      ),
  }
  await expect(move(from.store, losing, OPTIONS)).rejects.toThrow(reason)
})

test('a repeated move removes what the source no longer has', async () => {
  await using from = await openFilled()
  await using to = await open()
  await addOthers(from)
  await expect(move(from.store, killedAtItsEnd(to.store), OPTIONS)).rejects.toThrow('killed')
  const tables = ['user', 'document', 'export', 'export_element', 'session', 'signing_key', 'rest_call', 'client']
  from.hand(tables.map((table) => `delete from ${table};`).join(''))
  await move(from.store, to.store, OPTIONS)
  const { store } = to
  expect({
    users: await store.usersAfter('', 9),
    sessions: await store.sessionsAfter('', 9),
    keys: await store.signingKeys(),
    calls: await store.restCallsOf(['2026-01-01']),
    clients: await store.carriedRows('client', ['shop']),
  }).toEqual({ users: [], sessions: [], keys: [], calls: [], clients: [] })
})

test('a move notices a session that is still in its target', async () => {
  await using from = await openFilled()
  await using to = await open()
  await from.store.addSessions([newSession()])
  const killed: MigratableStore = {
    ...to.store,
    async completeTarget() {
      throw new Error('killed')
    },
  }
  await expect(move(from.store, killed, OPTIONS)).rejects.toThrow('killed')
  from.hand('delete from session')
  const keeping: MigratableStore = {
    ...to.store,
    applyCopies: (moveId, copies) =>
      to.store.applyCopies(
        moveId,
        copies.filter(({ type }) => type !== 'dropSession'),
      ),
  }
  await expect(move(from.store, keeping, OPTIONS)).rejects.toThrow('the sessions of the source and the target')
})

test('nothing is moved from a database that another move is filling', async () => {
  await using from = await openFilled()
  await using to = await open()
  await using filling = await open()
  const killed: MigratableStore = {
    ...filling.store,
    async completeTarget() {
      throw new Error('killed')
    },
  }
  await expect(move(from.store, killed, OPTIONS)).rejects.toThrow('killed')
  for (const moving of [move(filling.store, to.store, OPTIONS), moveOnline(filling.store, to.store, ONLINE)])
    await expect(moving).rejects.toThrow('the source is itself being filled by a move that has not ended')
  expect(await to.store.usersAfter('', 1)).toEqual([])
})

describe.each([
  ['move', (from: MigratableStore, to: MigratableStore) => move(from, to, OPTIONS)],
  ['move --online', (from: MigratableStore, to: MigratableStore) => moveOnline(from, to, ONLINE)],
])('%s to a target that somebody else writes to', (_, run) => {
  test.each([
    ['a changed document', `update document set text = '{"id":"q"}'`],
    [
      'an added document',
      `insert into document (key, user_id, kind, id, text) values ((1 << 28) | (2 << 26) | 1, 1, 'template', 'x', '{}')`,
    ],
    ['a removed document', 'delete from document'],
    [
      'a changed element',
      `drop trigger export_element_immutable; update export_element set text = '3' where text = '2'`,
    ],
    ['a removed export', 'delete from export'],
    ['a user who was moved aside', "update user set email = 'moving:1'"],
    [
      'an added export',
      `insert or ignore into export (id, user_id, ref, created_at, instant, digest, byte_length, element_count)
       select 99, user_id, ref, created_at, instant, 'another', 2, 0 from export`,
    ],
  ])('fails because of %s in the target', async (_, sql) => {
    await using from = await openFilled()
    await using to = await open()
    const meddled: MigratableStore = {
      ...to.store,
      async applyCopies(...asked) {
        const isMine = await to.store.applyCopies(...asked)
        to.hand(sql)
        return isMine
      },
    }
    await expect(run(from.store, meddled)).rejects.toThrow('not the same in the target')
    expect((await to.store.moveState()).phase).toBe('filling')
  })
})

describe('an online move', () => {
  test('does not take over before it has copied what was written after its fence had expired', async () => {
    await using from = await openFilled()
    await using to = await open()
    const late = newSession()
    let raised = 0
    const slow: MigratableStore = {
      ...to.store,
      // The last step before the target takes over: here the fence expires, and a write is accepted.
      async raiseIds(...asked) {
        raised += 1
        if (raised === 1) {
          from.hand('update move set closed_until = 0')
          await from.store.addSessions([late])
        }
        return to.store.raiseIds(...asked)
      },
    }
    const report = await moveOnline(from.store, slow, ONLINE)
    expect(report).toMatchObject({ attempts: 2, sessionsAgain: 1 })
    expect(await to.store.sessionsById([late.id])).toHaveLength(1)
    expect([(await from.store.moveState()).phase, (await to.store.moveState()).phase]).toEqual(['moved', 'live'])
  })

  test('tries again when its fence expired while it read a user who is written to', async () => {
    await using from = await openFilled()
    await using to = await open()
    let lapses = 0
    let isClosed = false
    const written: MigratableStore = {
      ...from.store,
      async fenceWrites(...asked) {
        isClosed = await from.store.fenceWrites(...asked)
        return isClosed
      },
      async exportsOf(pages) {
        const found = await from.store.exportsOf(pages)
        // The export that was found has no elements any more when they are read.
        if (isClosed && lapses === 0)
          from.hand('update move set closed_until = 0; delete from export; delete from export_element')
        if (isClosed) lapses += 1
        // All reads in one turn see one state.
        await setImmediate()
        return found
      },
    }
    const report = await moveOnline(written, to.store, {
      ...OPTIONS,
      maxPauseMs: 30_000,
      onCancelFailed() {},
      onPhase(phase) {
        if (phase === 'switching' && !isClosed) void from.store.applyChanges(addExport('t', LATER))
      },
    })
    expect([report?.attempts, lapses]).toEqual([2, 1])
    expect([(await from.store.moveState()).phase, (await to.store.moveState()).phase]).toEqual(['moved', 'live'])
    const user = await to.store.userByEmail(ANA)
    expect(await to.store.exportsOf([{ userId: user?.id ?? 0, ref: 'r', after: null, limit: null }])).toEqual([[]])
  })

  test('ends with an error that comes while its fence holds, and the source goes on', async () => {
    await using from = await openFilled()
    await using to = await open()
    let isFenced = false
    const failing: MigratableStore = {
      ...from.store,
      async fenceWrites(...asked) {
        isFenced = await from.store.fenceWrites(...asked)
        return isFenced
      },
      usersById(ids) {
        if (isFenced) throw new Error('planted')
        return from.store.usersById(ids)
      },
    }
    await expect(moveOnline(failing, to.store, ONLINE)).rejects.toThrow('planted')
    expect((await from.store.moveState()).phase).toBe('live')
  })

  test('drains the change log while it still copies everything', async () => {
    await using from = await openFilled()
    await using to = await open()
    const steps: string[] = []
    const source: MigratableStore = {
      ...from.store,
      drainChangeLog(moveId) {
        steps.push('notes are taken')
        return from.store.drainChangeLog(moveId)
      },
      sessionsAfter(...asked) {
        steps.push('sessions are copied')
        return from.store.sessionsAfter(...asked)
      },
    }
    await moveOnline(source, to.store, ONLINE)
    expect(steps.slice(0, 2)).toEqual(['notes are taken', 'sessions are copied'])
  })

  test('that was killed between its last two steps is completed by the first gateway that writes', async () => {
    await using from = await openFilled()
    await using to = await open()
    const killed: MigratableStore = {
      ...to.store,
      async promote() {
        throw new Error('killed')
      },
    }
    const moving = moveOnline(from.store, killed, ONLINE)
    await expect(moving).rejects.toThrow('killed')
    expect([(await from.store.moveState()).phase, (await to.store.moveState()).phase]).toEqual(['moved', 'filling'])
    const gateway = withCutover(from.store, { next: toSuccessor(to.store) })
    const session = newSession()
    await gateway.addSessions([session])
    expect((await to.store.moveState()).phase).toBe('live')
    expect(await to.store.sessionsById([session.id])).toHaveLength(1)
  })

  test('lets a gateway close the old database once, after the old database has answered its last read', async () => {
    await using from = await openFilled()
    await using to = await open()
    const { promise: slow, resolve } = Promise.withResolvers<[]>()
    let closed = 0
    const left: MigratableStore = {
      ...from.store,
      usersAfter: () => slow,
      async [Symbol.asyncDispose]() {
        closed += 1
      },
    }
    await moveOnline(from.store, to.store, ONLINE)
    const quick = withCutover(left, { next: toSuccessor(to.store) })
    await quick.addSessions([newSession()])
    expect(closed).toBe(1)
    await quick.addSessions([newSession()])
    expect(closed).toBe(1)
    const gateway = withCutover(left, { next: toSuccessor(to.store) })
    const owed = gateway.usersAfter('', 1)
    await gateway.addSessions([newSession()])
    expect(closed).toBe(1)
    resolve([])
    expect(await owed).toEqual([])
    expect(closed).toBe(2)
    await gateway[Symbol.asyncDispose]()
    expect(closed).toBe(2)
  })

  test('makes writes wait while they are stopped, and lets them proceed when it opens the fence', async () => {
    await using from = await openFilled()
    const gateway = withCutover(from.store, { next: null })
    await from.store.beginMove({ id: 'm', other: 'elsewhere' })
    await from.store.fenceWrites('m', 30_000)
    const sessions = Array.from({ length: 3 }, () => newSession())
    let done = 0
    const adding = sessions.map(async (session) => {
      await gateway.addSessions([session])
      done += 1
    })
    // By then each has been refused once.
    await expect(from.store.addSessions([newSession()])).rejects.toThrow('being moved')
    expect(done).toBe(0)
    await from.store.unfenceWrites('m')
    await Promise.all(adding)
    expect(await from.store.sessionsById(sessions.map(({ id }) => id))).toHaveLength(3)
  })

  test('is not followed to a database that it did not move to', async () => {
    await using from = await openFilled()
    await using to = await open()
    await using other = await open()
    await moveOnline(from.store, to.store, ONLINE)
    const before = await other.store.moveState()
    const gateway = withCutover(from.store, { next: toSuccessor(other.store) })
    const session = newSession()
    await expect(gateway.addSessions([session])).rejects.toThrow('has moved')
    await expect((async () => gateway.liveSessions([session.id], 0))()).rejects.toThrow('has moved')
    expect(await other.store.moveState()).toEqual(before)
    expect(await other.store.sessionsById([session.id])).toEqual([])
  })
})

test('an online move drains the change log between the pages of the sessions that it copies', async () => {
  await using source = await open()
  await using target = await open()
  await source.store.applyChanges([put()])
  const sessions = Array.from({ length: 2_500 }, (_, n) => newSession({ id: `s${n}` }))
  await source.store.addSessions(sessions)
  let [reads, drained] = [0, 0]
  const counted: MigratableStore = {
    ...source.store,
    sessionsAfter: (...args) => {
      reads += 1
      return source.store.sessionsAfter(...args)
    },
    drainChangeLog: (moveId) => {
      // Counts only the calls after a page of sessions was read.
      if (reads > 0) drained += 1
      return source.store.drainChangeLog(moveId)
    },
  }
  await moveOnline(counted, target.store, {
    ...OPTIONS,
    maxPauseMs: 30_000,
    onPhase() {
      reads = 0
    },
    onCancelFailed() {},
  })
  expect(drained).toBeGreaterThanOrEqual(3)
})
