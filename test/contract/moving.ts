// The contract suite of moves: it checks every sentence of `src/store/cutover/contract.ts` on each adapter.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { NewAuditEntry } from '../../src/store/audit-contract.ts'
import { ListFullError, type StoredExport, type WorkspaceReads } from '../../src/store/contract.ts'
import {
  CARRIED_TABLE_NAMES,
  type CarriedReads,
  type CarriedRow,
  type CarriedValue,
  carriedTable,
  keyOfRow,
} from '../../src/store/cutover/carried-tables.ts'
import {
  type Changed,
  type Copy,
  type MigratableStore,
  type MoveVerbs,
  StoreClosedError,
  StoreMovedError,
} from '../../src/store/cutover/contract.ts'
import { LAST_DOCUMENT_POSITION, MAX_ELEMENTS } from '../../src/store/reads-contract.ts'
import type { StoredClient } from '../../src/store/sign-in/client-contract.ts'
import type { CodeRequest } from '../../src/store/sign-in/code-contract.ts'
import { calls } from './rest-calls.ts'
import { ANA, BEN, CODE_RULES, hash, MADE, NOW, newSession, put } from './values.ts'

const LONG = 30_000
const UNCHANGED: Changed = { users: [], sessions: [], hasKeys: false, callDays: [], rows: [] }

export interface OpenedForMoving {
  readonly store: MigratableStore
  /** Another store on the same database. */
  readonly reopen: () => Promise<MigratableStore>
  /** Runs SQL as somebody would in the database's own shell. */
  readonly hand: (sql: string) => Promise<void>
}

/** What a test needs of its database; otherwise it may be a copy of an empty one. */
export interface DatabaseForMoving {
  /** The store itself has created it. */
  readonly isCreated?: boolean
  /** `MOVE` has begun, and nothing has been stored. */
  readonly isMoving?: boolean
}

/** The move away that has begun where a test asks for that. */
export const MOVE = { id: 'm1', other: 'elsewhere' }

export function describeMoves(name: string, open: (database?: DatabaseForMoving) => Promise<OpenedForMoving>): void {
  describe(`the contract of moves on ${name}`, () => {
    let store: MigratableStore
    let reopen: OpenedForMoving['reopen']
    let hand: OpenedForMoving['hand']

    /** Opens such a database before each test. */
    function beforeEachOpen(database?: DatabaseForMoving): void {
      beforeEach(async () => {
        const opened = await open(database)
        store = opened.store
        reopen = opened.reopen
        hand = opened.hand
        return () => store[Symbol.asyncDispose]()
      })
    }

    const phase = async () => (await store.moveState()).phase

    describe('a database', () => {
      beforeEachOpen({ isCreated: true })

      test('has its own identity, and is live', async () => {
        await using again = await reopen()
        const state = await store.moveState()
        expect(state).toEqual({
          identity: expect.stringMatching(/^[0-9a-f]{32}$/),
          phase: 'live',
          moveId: null,
          other: null,
        })
        expect(await again.moveState()).toEqual(state)
        await using other = (await open({ isCreated: true })).store
        expect((await other.moveState()).identity).not.toBe(state.identity)
      })

      test('says so when it lost its move state, and is not activated', async () => {
        await hand('delete from move')
        for (const ask of [() => store.moveState(), () => store.activate()])
          await expect(async () => ask()).rejects.toThrow('no row in its table move')
      })
    })

    describe('a move away from here', () => {
      beforeEachOpen()

      test('notes what is changed from then on, once, whoever changes it', async () => {
        const [before, ended] = [newSession(), newSession()]
        await store.addSessions([before, ended])
        await store.applyChanges([put(), put({ email: BEN })])
        expect(await store.beginMove(MOVE)).toBe(true)
        expect(await store.moveState()).toMatchObject({ phase: 'copying', moveId: 'm1', other: 'elsewhere' })
        expect(await store.drainChangeLog('m1')).toEqual(UNCHANGED)

        await using other = await reopen()
        const added = newSession()
        await other.addSessions([added])
        await other.revokeSessions([ended.refreshHash], NOW)
        await other.applyChanges([put({ text: '1' }), put({ email: 'new@example.com' })])
        await store.addSigningKey({ kid: 'k', privateJwk: '{}', createdAt: NOW }, null)
        await other.addRestCalls({ writer: 'w', sequence: 1, calls: [calls(), calls({ client: 'curl' })] })
        await other.addClient(CLIENT)
        const [ana, ben, created] = await store.usersAfter('', 9)
        const changed = requireChanges(await store.drainChangeLog('m1'))
        expect([...changed.users].sort()).toEqual([ana?.id, created?.id])
        expect([...changed.sessions].sort()).toEqual([added.id, ended.id].sort())
        expect(changed.hasKeys).toBe(true)
        expect(changed.callDays).toEqual([calls().day])
        expect(changed.rows).toContainEqual({ table: 'client', key: 'c' })
        expect(await store.drainChangeLog('m1')).toEqual(UNCHANGED)

        await store.extendSessions([{ id: before.id, lastUsedAt: NOW, idleExpiresAt: NOW + 1_500 }])
        await hand(`delete from document where user_id = ${ben?.id}; delete from "user" where email = '${ANA}'`)
        const more = requireChanges(await store.drainChangeLog('m1'))
        expect([[...more.users].sort(), more.sessions]).toEqual([[ana?.id, ben?.id], [before.id]])

        await hand(`update client set name = 'd'`)
        const { rows } = requireChanges(await store.drainChangeLog('m1'))
        expect(rows.map(({ table, key }) => `${table} ${key}`).sort()).toEqual(['client c', 'client d'])
      })
    })

    describe('a move away from here that has begun', () => {
      beforeEachOpen({ isMoving: true })

      test('notes exports when they are sealed', async () => {
        await store.applyChanges([put()])
        const stage = randomUUID()
        await store.applyChanges([{ type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW }])
        await store.applyChanges([{ type: 'stageElements', stage, position: 1, texts: ['1'], now: NOW }])
        await store.drainChangeLog('m1')
        await store.applyChanges([{ type: 'sealExport', stage, digest: 'd', byteLength: 3, elementCount: 1 }])
        expect((await store.drainChangeLog('m1'))?.users).toHaveLength(1)
      })

      test('notes exports that follow their project to another reference', async () => {
        await store.applyChanges([put(), put({ email: BEN })])
        const stage = randomUUID()
        await store.applyChanges([
          { type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW },
          { type: 'sealExport', stage, digest: 'd', byteLength: 2, elementCount: 0 },
        ])
        await store.drainChangeLog('m1')
        await store.applyChanges([put({ ref: 'new' })])
        const { id = 0 } = (await store.userByEmail(ANA)) ?? {}
        expect((await store.drainChangeLog('m1'))?.users).toEqual([id])
        expect((await store.latestExports([{ userId: id, ref: 'new' }])).map((one) => one?.digest)).toEqual(['d'])
      })

      test('closes the database for all writes while reads go on, and opens it again', async () => {
        const session = newSession()
        await store.addSessions([session])
        await store.applyChanges([put()])
        await askForCodes(store)
        expect(await store.fenceWrites('m1', LONG)).toBe(true)
        expect(await phase()).toBe('closed')
        await using other = await reopen()
        for (const each of [store, other])
          for (const [verb, write] of writes(each)) await expect(write(), verb).rejects.toThrow(StoreClosedError)
        for (const sql of HANDS) await expect(hand(sql), sql).rejects.toThrow('being moved')
        expect((await store.liveSessions([session.id], NOW))[0]).toMatchObject({
          email: ANA,
          userId: expect.any(Number),
        })
        expect((await store.refreshableSessions([session.refreshHash], NOW))[0]).not.toBeNull()
        expect(await store.usersAfter('', 9)).toHaveLength(1)

        await store.unfenceWrites('m1')
        expect(await phase()).toBe('copying')
        for (const [, write] of writes(other)) await write()
      })

      test('lets writes in once the time of a closing is over, and does not finish after such a write', async () => {
        await store.fenceWrites('m1', 1)
        await until(async () => {
          try {
            await store.addSessions([newSession()])
            return true
          } catch {
            return false
          }
        })
        expect(await phase()).toBe('copying')
        expect(await store.finishMove('m1')).toBe(false)
        expect(await phase()).toBe('copying')
      })

      test('also finishes after that time, as long as nothing was written since', async () => {
        await store.fenceWrites('m1', 1)
        await until(async () => (await phase()) === 'copying')
        expect(await store.finishMove('m1')).toBe(true)
        expect(await phase()).toBe('moved')
      })

      test('does not stay closed if the clock is set back by more than a minute', async () => {
        await store.fenceWrites('m1', LONG)
        await hand('update move set closed_until = closed_until + 3600000')
        await store.addSessions([newSession()])
        expect(await store.finishMove('m1')).toBe(false)
      })

      test('lets nobody in and nothing be written once it is finished, and stays finished', async () => {
        const session = newSession()
        await store.addSessions([session])
        await store.applyChanges([put()])
        await askForCodes(store)
        await store.fenceWrites('m1', LONG)
        expect(await store.finishMove('m1')).toBe(true)
        await store.unfenceWrites('m1')
        await store.cancelMove(null)
        expect(await store.beginMove({ id: 'm2', other: 'x' })).toBe(false)
        await using other = await reopen()
        for (const each of [store, other]) {
          const signIns = [
            async () => each.liveSessions([session.id, 'unknown'], NOW),
            async () => each.liveSessions(['unknown'], NOW),
            async () => each.refreshableSessions([session.refreshHash], NOW),
            async () => each.sessionsOf(session.email, NOW, 9),
            async () => each.signingKeys(),
            async () => each.clients(),
            async () => each.clientByName(CLIENT.name),
            async () => each.pendingSignIn(ANA, CODE_REQUEST.network, NOW),
            async () => each.ping(),
          ]
          for (const ask of signIns) await expect(ask()).rejects.toThrow(StoreMovedError)
          for (const [verb, write] of writes(each)) await expect(write(), verb).rejects.toThrow(StoreMovedError)
        }
        for (const sql of HANDS) await expect(hand(sql), sql).rejects.toThrow('has moved')
        expect(await store.activate()).toMatchObject({ phase: 'moved', moveId: 'm1', other: 'elsewhere' })
        expect(await store.usersAfter('', 9)).toHaveLength(1)
      })

      test('is taken over by another move, and then can neither close, nor finish, nor cancel', async () => {
        await store.addSessions([newSession()])
        await store.fenceWrites('m1', LONG)
        expect(await store.beginMove({ id: 'm2', other: 'x' })).toBe(true)
        expect(await store.drainChangeLog('m2')).toEqual(UNCHANGED)
        const noted = newSession()
        await store.addSessions([noted])
        expect(await store.drainChangeLog('m1')).toBeNull()
        expect((await store.drainChangeLog('m2'))?.sessions).toEqual([noted.id])
        expect(await store.fenceWrites('m1', LONG)).toBe(false)
        expect(await store.finishMove('m1')).toBe(false)
        await store.cancelMove('m1')
        expect(await store.moveState()).toMatchObject({ phase: 'copying', moveId: 'm2' })
        await store.fenceWrites('m2', LONG)
        expect(await store.finishMove('m1')).toBe(false)
        await store.unfenceWrites('m1')
        expect(await phase()).toBe('closed')
        expect(await store.finishMove('m2')).toBe(true)
      })

      test('leaves nothing behind when it is cancelled: writes go on, and are not noted', async () => {
        await store.addSessions([newSession()])
        await store.fenceWrites('m1', LONG)
        await store.cancelMove('m1')
        expect(await phase()).toBe('live')
        await store.addSessions([newSession()])
        await store.applyChanges([put()])
        expect(await store.drainChangeLog('m1')).toBeNull()
        await hand(`update move set phase = 'copying'`)
        expect(await store.drainChangeLog('m1')).toEqual(UNCHANGED)
        await store.beginMove(MOVE)
        await store.cancelMove(null)
        expect(await phase()).toBe('live')
      })

      test('has noted every acknowledged write when closing returns, among many concurrent writers', async () => {
        await using other = await reopen()
        const acknowledged: string[] = []
        let isClosed = false
        const writing = Array.from({ length: 8 }, async (_, index) => {
          while (!isClosed) {
            const session = newSession()
            try {
              await (index % 2 ? store : other).addSessions([session])
              acknowledged.push(session.id)
            } catch (error) {
              if (!(error instanceof StoreClosedError)) throw error
            }
          }
        })
        await until(async () => acknowledged.length > 20)
        await store.fenceWrites('m1', LONG)
        const { sessions } = requireChanges(await store.drainChangeLog('m1'))
        isClosed = true
        await Promise.all(writing)
        // A write that was committed before may be acknowledged only now, on another connection.
        expect(new Set(sessions)).toEqual(new Set(acknowledged))
        expect((await store.drainChangeLog('m1'))?.sessions).toEqual([])
      })
    })

    describe('a move into here', () => {
      beforeEachOpen()

      const move = { id: 'm1', other: 'source' }
      const some: StoredExport = {
        ...MADE,
        id: 70,
        userId: 7,
        ref: 'r',
        digest: 'd',
        byteLength: 5,
        elementCount: 2,
      }
      const document = { userId: 7, kind: 'project', position: 5, id: 'p', ref: 'r', text: '{"a":1.0}' } as const
      const WORLD: readonly Copy[] = [
        { type: 'putUser', id: 7, email: ANA },
        { type: 'addDocument', ...document },
        { type: 'beginExport', export: some },
        { type: 'addElement', userId: 7, exportId: 70, position: 1, text: '1' },
        { type: 'addElement', userId: 7, exportId: 70, position: 2, text: '2' },
        { type: 'sealExport', export: some },
      ]
      const page = { kind: 'project', after: 0, limit: null } as const

      test('keeps every id and every position', async () => {
        expect(await store.reserveTarget(move)).toBe(true)
        expect(await store.applyCopies('m1', WORLD)).toBe(true)
        expect(await store.usersById([7])).toEqual([{ id: 7, email: ANA }])
        expect(await store.documentsOf([{ userId: 7, ...page }])).toEqual([[document]])
        expect(await store.latestExports([{ userId: 7, ref: 'r' }])).toEqual([some])
        const [elements] = await store.elementsOf([{ userId: 7, exportId: 70, after: 0, limit: null }])
        expect(elements?.map(({ position, text }) => [position, text])).toEqual([
          [1, '1'],
          [2, '2'],
        ])
      })

      test('makes the REST calls of a day the same as in the other database', async () => {
        await store.reserveTarget(move)
        const [some, others] = [calls({ count: 3 }), calls({ client: 'curl', day: '2026-11-23' })]
        await store.applyCopies('m1', [
          { type: 'putRestCalls', calls: calls({ client: 'gone' }) },
          { type: 'putRestCalls', calls: others },
        ])
        await store.applyCopies('m1', [
          { type: 'putRestCalls', calls: some },
          { type: 'dropRestCalls', day: some.day },
        ])
        expect(await store.restCallsOf(await store.restCallDays('', 9))).toEqual([some, others])
      })

      test('first puts aside what is in the way, whatever the order', async () => {
        await store.reserveTarget(move)
        await store.applyCopies('m1', WORLD)
        const moved = { ...document, position: 3, text: '2' }
        const changed = { ...some, digest: 'e', elementCount: 1 }
        await store.applyCopies('m1', [
          { type: 'addDocument', ...moved },
          { type: 'beginExport', export: changed },
          { type: 'addElement', userId: 7, exportId: 70, position: 1, text: '3' },
          { type: 'sealExport', export: changed },
          { type: 'dropDocument', userId: 7, kind: 'project', position: 5 },
          { type: 'dropExport', userId: 7, id: 70 },
        ])
        expect(await store.documentsOf([{ userId: 7, ...page }])).toEqual([[moved]])
        expect(await store.latestExports([{ userId: 7, ref: 'r' }])).toEqual([changed])
        expect(await store.elementsOf([{ userId: 7, exportId: 70, after: 0, limit: null }])).toEqual([
          [expect.objectContaining({ text: '3' })],
        ])
        await store.applyCopies('m1', [{ type: 'putUser', id: 8, email: ANA }])
        expect(await store.usersAfter('', 9)).toEqual([
          { id: 8, email: ANA },
          { id: 7, email: 'moving:7' },
        ])
        expect(await store.documentCounts([{ userId: 7, kind: 'project' }])).toEqual([1])
        await store.applyCopies('m1', [
          { type: 'putUser', id: 8, email: BEN },
          { type: 'putUser', id: 7, email: ANA },
        ])
        await store.applyCopies('m1', [
          { type: 'putUser', id: 7, email: BEN },
          { type: 'putUser', id: 8, email: ANA },
        ])
        expect(await store.usersAfter('', 9)).toEqual([
          { id: 8, email: ANA },
          { id: 7, email: BEN },
        ])
        await store.applyCopies('m1', [
          { type: 'putUser', id: 8, email: BEN },
          { type: 'dropUser', id: 7 },
          { type: 'dropUser', id: 9 },
        ])
        expect(await store.usersAfter('', 9)).toEqual([{ id: 8, email: BEN }])
        await store.applyCopies('m1', [{ type: 'dropUser', id: 8 }])
        expect(await store.usersAfter('', 9)).toEqual([])
      })

      test('begins an export again that was broken off in the middle', async () => {
        await store.reserveTarget(move)
        await store.applyCopies('m1', WORLD.slice(0, 4))
        expect(await store.latestExports([{ userId: 7, ref: 'r' }])).toEqual([null])
        await store.applyCopies('m1', WORLD.slice(2))
        const [elements] = await store.elementsOf([{ userId: 7, exportId: 70, after: 0, limit: null }])
        expect(elements).toHaveLength(2)
      })

      test('puts nothing behind the last position of a list, where no read would find it', async () => {
        await store.reserveTarget(move)
        for (const copy of [
          { type: 'addDocument', ...document, id: 'behind', ref: 'behind', position: LAST_DOCUMENT_POSITION + 1 },
          { type: 'addElement', userId: 7, exportId: 70, position: MAX_ELEMENTS + 1, text: '3' },
        ] as const) {
          const copies = WORLD.toSpliced(copy.type === 'addDocument' ? 2 : 4, 0, copy)
          await expect(store.applyCopies('m1', copies), copy.type).rejects.toThrow(ListFullError)
          expect(await store.usersAfter('', 9), copy.type).toEqual([])
        }
      })

      test('may fill the last position of a list, which is then full until a replacement gives new positions', async () => {
        await store.reserveTarget(move)
        const last = { ...document, position: LAST_DOCUMENT_POSITION }
        await store.applyCopies('m1', [
          { type: 'putUser', id: 7, email: ANA },
          { type: 'addDocument', ...document, id: 'first', ref: 'first', position: 1 },
          { type: 'addDocument', ...last },
        ])
        await store.completeTarget('m1')
        await store.activate()
        const texts = async () => {
          const [documents = []] = await store.documentsOf([{ userId: 7, ...page }])
          return documents.map(({ id, text }) => `${id} ${text}`)
        }
        const more = put({ id: 'more', ref: 'more', text: '1' })
        const outcomes = await store.applyChanges([
          more,
          put({ id: 'first', ref: 'first', text: '2' }),
          put({ id: 'another', ref: 'r' }),
          put({ kind: 'template', id: 't', ref: null }),
        ])
        expect(outcomes).toEqual(['listFull', 'replaced', 'listFull', 'added'])
        expect(await texts()).toEqual(['first 2', `p ${document.text}`])

        await store.beginReplacement('r', NOW)
        const stage = { type: 'stageDocument', email: ANA, kind: 'project' } as const
        const swapped = [
          { ...stage, id: 'p', ref: 'r', text: '3' },
          { ...stage, id: 'first', ref: 'first', text: '4' },
        ]
        await store.stageReplacement('r', swapped, NOW)
        await store.swapReplacement({ replacement: 'r', after: '', maxDocuments: 9, isDryRun: false, now: NOW })
        expect(await store.applyChanges([more])).toEqual(['added'])
        expect(await texts()).toEqual(['p 3', 'first 4', 'more 1'])
      })

      test('puts and drops sessions and keys', async () => {
        await store.reserveTarget(move)
        const [a, b] = [newSession({ id: 'a' }), newSession({ id: 'b' })]
        const [k, l] = ['k', 'l'].map((kid) => ({ kid, privateJwk: '{}', createdAt: NOW }))
        if (!k || !l) throw new Error('no keys')
        await store.applyCopies('m1', [
          { type: 'putSession', session: a },
          { type: 'putSession', session: b },
          { type: 'putKey', key: k },
          { type: 'putKey', key: l },
        ])
        const later = { ...a, idleExpiresAt: NOW + 1_999 }
        await store.applyCopies('m1', [
          { type: 'putSession', session: later },
          { type: 'dropSession', id: 'b' },
          { type: 'dropKey', kid: 'l' },
          { type: 'putKey', key: { ...k, privateJwk: '{"x":1}' } },
        ])
        expect(await store.sessionsById(['a', 'b'])).toEqual([{ ...later, refreshHash: Buffer.from(a.refreshHash) }])
        expect(await store.signingKeys()).toEqual([{ ...k, privateJwk: '{"x":1}' }])
      })

      test.each(CARRIED_TABLE_NAMES)('puts and drops rows of %s, and returns them as they were put', async (table) => {
        const { columns, key, alsoUnique = [] } = carriedTable(table)
        const names = Object.keys(columns)
        // This table never has more than one row.
        const count = table === 'audit_salt' ? 1 : 2
        const rowOf = (value: number, given: Readonly<Record<string, CarriedValue>> = {}): CarriedRow =>
          Object.entries(columns).map(([name, type]) => {
            if (name === 'one') return 1
            return given[name] ?? { text: `${name} ${value}`, integer: value, boolean: value % 2 === 1 }[type]
          })
        const rows = Array.from({ length: count }, (_, index) => rowOf(index + 1))
        const put = (row: CarriedRow) => store.applyCopies('m1', [{ type: 'putRow', table, row }])
        await store.reserveTarget(move)
        for (const row of rows) expect(await put(row)).toBe(true)
        expect(await store.carriedRowsAfter(table, '', 9)).toEqual(rows)
        const [first = []] = rows
        const firstKey = keyOfRow(table, first)
        expect(await store.carriedRowsAfter(table, firstKey, 9)).toEqual(rows.slice(1))
        expect(await store.carriedRows(table, [firstKey, '77'])).toEqual([first])
        // A row that is in the way is removed.
        const valueIn = (row: CarriedRow, name: string) => row[names.indexOf(name)] ?? null
        const changed = rowOf(4, { [key]: valueIn(first, key) })
        await put(changed)
        expect(await store.carriedRows(table, [firstKey])).toEqual([changed])
        if (alsoUnique.length > 0) {
          const other = rowOf(5, Object.fromEntries(alsoUnique.map((name) => [name, valueIn(changed, name)])))
          await put(other)
          expect(await store.carriedRows(table, [firstKey, keyOfRow(table, other)])).toEqual([other])
        }
        for (const row of await store.carriedRowsAfter(table, '', 9))
          await store.applyCopies('m1', [{ type: 'dropRow', table, key: keyOfRow(table, row) }])
        expect(await store.carriedRowsAfter(table, '', 9)).toEqual([])
      })

      test('applies a list of copies as a whole or not at all', async () => {
        await store.reserveTarget(move)
        const twice: Copy = { type: 'addDocument', ...document, position: 6 }
        await expect(store.applyCopies('m1', [...WORLD, twice])).rejects.toThrow()
        expect(await store.usersAfter('', 9)).toEqual([])
      })

      test('takes an empty database, and none that is used or taken by another move', async () => {
        await store.addSessions([newSession()])
        expect(await store.reserveTarget(move)).toBe(false)
        await hand('delete from session')
        await hand(`insert into client values ('c', 'h', '*', 'login', 1, 0)`)
        expect(await store.reserveTarget(move)).toBe(false)
        await hand('delete from client')
        expect(await store.reserveTarget(move)).toBe(true)
        expect(await store.moveState()).toMatchObject({ phase: 'filling', moveId: 'm1', other: 'source' })
        expect(await store.activate()).toMatchObject({ phase: 'filling' })
        expect(await store.reserveTarget({ id: 'm2', other: 'another' })).toBe(false)
        expect(await store.beginMove({ id: 'm3', other: 'x' })).toBe(false)
      })

      test('sets the reference of an export itself; only afterwards does an export follow its project', async () => {
        await store.reserveTarget(move)
        await store.applyCopies('m1', WORLD)
        const idsOf = async () => {
          const pages = ['r', 'q'].map((ref) => ({ userId: 7, ref, after: null, limit: null }))
          return (await store.exportsOf(pages)).map((page) => page.map(({ id }) => id))
        }
        await hand(`update document set ref = 'q' where ref = 'r'`)
        expect(await idsOf()).toEqual([[70], []])
        await hand(`update document set ref = 'r' where ref = 'q'`)
        await store.promote('source')
        await hand(`update document set ref = 'q' where ref = 'r'`)
        expect(await idsOf()).toEqual([[], [70]])
        for (const ref of ['r', 'q', 'free']) {
          await expect(hand(`update export set ref = '${ref}'`), ref).rejects.toThrow('an export is immutable')
        }
        expect(await idsOf()).toEqual([[], [70]])
      })

      test('is taken over by a later move from the same database, and then writes no more', async () => {
        await store.reserveTarget(move)
        await store.applyCopies('m1', WORLD)
        expect(await store.reserveTarget({ ...move, id: 'm2' })).toBe(true)
        expect(await store.applyCopies('m1', [{ type: 'dropUser', id: 7 }])).toBe(false)
        expect(await store.raiseIds('m1', { user: 9, export: 9, auditEntry: 9 })).toBe(false)
        expect(await store.completeTarget('m1')).toBe(false)
        expect(await store.usersAfter('', 9)).toHaveLength(1)
        expect(await store.completeTarget('m2')).toBe(true)
        expect(await phase()).toBe('filled')
        expect(await store.applyCopies('m2', WORLD)).toBe(false)
        expect(await store.reserveTarget({ ...move, id: 'm4' })).toBe(true)
      })

      test('ends when the database is taken into use, or takes over', async () => {
        await store.reserveTarget(move)
        await store.applyCopies('m1', WORLD)
        await store.completeTarget('m1')
        expect(await store.activate()).toMatchObject({ phase: 'live' })
        expect(await store.reserveTarget({ ...move, id: 'm2' })).toBe(false)

        await using other = (await open()).store
        await other.reserveTarget(move)
        await other.promote('another')
        expect((await other.moveState()).phase).toBe('filling')
        await other.promote('source')
        await other.promote('source')
        expect((await other.moveState()).phase).toBe('live')
        expect(await other.applyCopies('m1', WORLD)).toBe(false)
        await other.addSessions([newSession()])
      })

      test('gives later users and exports ids that were never used before', async () => {
        await store.reserveTarget(move)
        await store.applyCopies('m1', WORLD)
        expect(await store.raiseIds('m1', { user: 40, export: 400, auditEntry: 4_000 })).toBe(true)
        await store.promote('source')
        expect(await store.lastIds()).toEqual({ user: 40, export: 400, auditEntry: 4_000 })
        await store.applyChanges([put({ email: BEN })])
        const stage = randomUUID()
        await store.applyChanges([
          { type: 'stageExport', stage, email: BEN, ref: 'r', ...MADE, now: NOW },
          { type: 'sealExport', stage, digest: 'd', byteLength: 2, elementCount: 0 },
        ])
        const ben = await store.userByEmail(BEN)
        expect(ben?.id).toBe(41)
        expect(await store.latestExports([{ userId: 41, ref: 'r' }])).toEqual([expect.objectContaining({ id: 401 })])
        expect(await store.lastIds()).toEqual({ user: 41, export: 401, auditEntry: 4_000 })
      })
    })
  })
}

/** Verbs that only read. */
type Read =
  | keyof WorkspaceReads
  | keyof CarriedReads
  | 'liveSessions'
  | 'refreshableSessions'
  | 'sessionsOf'
  | 'sessionsAfter'
  | 'sessionsById'
  | 'signingKeys'
  | 'auditSalt'
  | 'auditEntries'
  | 'restCallDays'
  | 'restCallsOf'
  | 'clients'
  | 'clientByName'
  | 'pendingSignIn'
  | 'statistics'
  | 'projectIdsByRef'
  | 'holdingsOf'
  | 'openSnapshot'
  | 'earlierTime'
  | 'ping'

/** Steps of a move, which have tests of their own. */
type MoveStep = keyof MoveVerbs | 'reserveTarget' | 'applyCopies' | 'raiseIds' | 'completeTarget' | 'promote'

/** Verbs that change the files of a database, and nothing that is stored in it. */
type FileVerb = 'space' | 'reclaimSpace' | 'rewrite' | 'flushRemovals' | 'eraseKeyTraces'

type WriteVerb = Exclude<keyof MigratableStore, Read | MoveStep | FileVerb | symbol>

/** Adds a mail to send and a request to decide on: without them, two verbs have nothing to write. */
async function askForCodes(store: MigratableStore): Promise<void> {
  await store.addSigningKey({ kid: CODE_REQUEST.kid, privateJwk: '{}', createdAt: NOW }, null)
  await store.addCodeRequests([CODE_REQUEST])
  await store.decideCodeRequests(CODE_RULES, NOW, 1)
  await store.addCodeRequests([{ ...CODE_REQUEST, id: 'r2' }])
}

/** Each verb that writes, after `askForCodes`. Most find nothing to change, and must be refused all the same. */
function writes(store: MigratableStore): readonly (readonly [WriteVerb, () => Promise<unknown>])[] {
  const [stage, replacement] = [randomUUID(), randomUUID()]
  const stageExport = { type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW } as const
  const verbs: Readonly<Record<WriteVerb, () => Promise<unknown>>> = {
    addSessions: async () => store.addSessions([newSession()]),
    extendSessions: async () => store.extendSessions([{ id: 'unknown', lastUsedAt: NOW, idleExpiresAt: NOW }]),
    revokeSessions: async () => store.revokeSessions([hash()], NOW),
    revokeSessionsById: async () => store.revokeSessionsById([{ id: 'unknown', email: ANA }], NOW),
    revokeSessionsOf: async () => store.revokeSessionsOf('unknown@example.com', NOW),
    dropExpiredSessions: async () => store.dropExpiredSessions(NOW),
    addSigningKey: async () => store.addSigningKey({ kid: 'k', privateJwk: '{}', createdAt: NOW }, null),
    removeSigningKey: async () => store.removeSigningKey('unknown'),
    rewriteSigningKeys: async () => store.rewriteSigningKeys([{ kid: 'unknown', privateJwk: '{}' }]),
    addAuditEntries: async () => store.addAuditEntries({ writer: 'w', sequence: 1, entries: [AUDIT_ENTRY] }),
    removeAuditEntries: async () => store.removeAuditEntries(0, 9),
    addRestCalls: async () => store.addRestCalls({ writer: 'w', sequence: 1, calls: [calls()] }),
    removeRestCalls: async () => store.removeRestCalls('2026-01-01', 9),
    addClient: async () => store.addClient(CLIENT),
    removeClient: async () => store.removeClient(CLIENT.name),
    addCodeRequests: async () => store.addCodeRequests([{ ...CODE_REQUEST, id: 'r3' }]),
    decideCodeRequests: async () => store.decideCodeRequests(CODE_RULES, NOW, 1),
    tryCode: async () => store.tryCode({ id: 'unknown', codeHash: CODE_REQUEST.codeHash }, NOW),
    leaseMails: async () => store.leaseMails({ owner: 'w', leaseMs: 1, limit: 1 }, NOW),
    settleMails: async () => store.settleMails('w', [{ id: 'unknown', dueAt: null, isGivenUp: false }]),
    applyChanges: async () => store.applyChanges([put(), stageExport]),
    dropStaleStages: async () => store.dropStaleStages(0),
    removeUsers: async () => store.removeUsers(['unknown@example.com']),
    renameUser: async () => store.renameUser('unknown@example.com', 'other@example.com'),
    pruneExports: async () => store.pruneExports({ userId: 0, keep: 1, before: null, after: '' }),
    beginReplacement: async () => store.beginReplacement(replacement, NOW),
    stageReplacement: async () => store.stageReplacement(replacement, [{ type: 'stageUser', email: BEN }], NOW),
    swapReplacement: async () =>
      store.swapReplacement({ replacement, after: '', maxDocuments: 9, isDryRun: false, now: NOW }),
    endReplacement: async () => store.endReplacement(replacement),
  }
  return Object.entries(verbs) as (readonly [WriteVerb, () => Promise<unknown>])[]
}

const AUDIT_ENTRY: NewAuditEntry = {
  at: NOW,
  kind: 'login',
  result: 'done',
  who: ANA,
  network: '192.0.2.0/24',
  detail: '',
  count: 1,
}

const CODE_REQUEST: CodeRequest = {
  id: 'r1',
  email: ANA,
  network: '192.0.2.0/24',
  agent: 'curl',
  kid: 'k',
  codeHash: 'h',
  isEligible: true,
  askedAt: NOW,
}

const CLIENT: StoredClient = {
  name: 'c',
  secretHash: 'h',
  domains: ['*'],
  scopes: ['login'],
  perMinute: 1,
  createdAt: NOW,
}

/** Each changes something if there is a user with a document, and a session. */
const HANDS = [
  'delete from session',
  `update session set email = 'x'`,
  'delete from document',
  `update document set text = '2'`,
  'delete from "user"',
  `insert into signing_key values ('k2', '{}', 0)`,
  `insert into client values ('c', 'h', '*', 'login', 1, 0)`,
  `insert into replacement (name, touched_at) values ('r', 0)`,
  `insert into rest_call (day, route, client, count, last_seen) values ('2026-01-01', 'r', 'c', 1, 0)`,
  `update audit_salt set salt = 'x'`,
]

function requireChanges(changed: Changed | null): Changed {
  if (!changed) throw new Error('the move was taken over')
  return changed
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !(await condition()); ) {
    if (performance.now() - start > 20_000) throw new Error('it did not happen in time')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
