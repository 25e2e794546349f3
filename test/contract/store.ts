// The contract suite of the store: it checks every sentence of `src/store/contract.ts` on each adapter.
import { randomUUID } from 'node:crypto'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Change, ExpectedVersion, Store } from '../../src/store/contract.ts'
import { describeAuditLog } from './audit.ts'
import { describeRestCalls } from './rest-calls.ts'
import { describeSigningKeys } from './signing-keys.ts'
import { ANA, BEN, hash, MADE, NOW, newSession, put } from './values.ts'

/** `open` returns a new, empty store, and `reopen` another one on the same database. The suite closes both. */
export function describeStore(name: string, open: () => Promise<{ store: Store; reopen: () => Promise<Store> }>): void {
  describe(`the store contract on ${name}`, () => {
    let store: Store
    let reopen: () => Promise<Store>

    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      reopen = opened.reopen
      return () => store[Symbol.asyncDispose]()
    })

    async function userId(email: string): Promise<number> {
      const user = await store.userByEmail(email)
      if (!user) throw new Error(`no user ${email}`)
      return user.id
    }

    async function texts(email: string, kind: 'project' | 'template' | 'uiLibrary' = 'project'): Promise<string[]> {
      const [documents = []] = await store.documentsOf([{ userId: await userId(email), kind, after: 0, limit: null }])
      return documents.map(({ text }) => text)
    }

    async function revision(email: string): Promise<number> {
      const session = newSession({ email })
      await store.addSessions([session])
      const [live] = await store.liveSessions([session.id], NOW)
      return live?.revision ?? Number.NaN
    }

    async function addExport(email: string, ref: string, elements: readonly string[], at = MADE, digest = 'd1') {
      const stage = randomUUID()
      return store.applyChanges([
        { type: 'stageExport', stage, email, ref, ...at, now: NOW },
        { type: 'stageElements', stage, position: 1, texts: elements, now: NOW },
        { type: 'sealExport', stage, digest, byteLength: 10, elementCount: elements.length },
      ])
    }

    describe('sessions', () => {
      test('are returned one per id, in the given order, with null for an unknown id', async () => {
        const [a, b] = [newSession(), newSession({ email: BEN })]
        await store.addSessions([a, b])
        const live = await store.liveSessions([b.id, 'unknown', a.id, b.id], NOW)
        expect(live.map((session) => session?.email)).toEqual([BEN, undefined, ANA, BEN])
        expect(live[0]).toEqual({ id: b.id, email: BEN, userId: null, revision: 0, stateVersion: '', client: 'shop' })
        expect(await store.liveSessions([], NOW)).toEqual([])
      })

      test('know the user and the revision as soon as a workspace is stored', async () => {
        const session = newSession()
        await store.addSessions([session])
        await store.applyChanges([put()])
        const [live] = await store.liveSessions([session.id], NOW)
        expect(live?.userId).toBe(await userId(ANA))
        expect(live?.revision).toBeGreaterThan(0)
      })

      test('have another state version after every change, and the same one as long as there is none', async () => {
        const session = newSession()
        await store.addSessions([session])
        const stateVersion = async () => (await store.liveSessions([session.id], NOW))[0]?.stateVersion
        const stamps = [await stateVersion()]
        for (const text of ['1', '2', '1']) {
          await store.applyChanges([put({ text })])
          stamps.push(await stateVersion())
          expect(await stateVersion()).toBe(stamps.at(-1))
        }
        expect(new Set(stamps).size).toBe(4)
      })

      test('end at their idle expiry and at their absolute expiry, whichever is first', async () => {
        const idle = newSession({ idleExpiresAt: NOW + 10, expiresAt: NOW + 100 })
        const absolute = newSession({ idleExpiresAt: NOW + 100, expiresAt: NOW + 10 })
        await store.addSessions([idle, absolute])
        for (const session of [idle, absolute]) {
          expect((await store.liveSessions([session.id], NOW + 9))[0]).not.toBeNull()
          expect((await store.refreshableSessions([session.refreshHash], NOW + 9))[0]).not.toBeNull()
          expect((await store.liveSessions([session.id], NOW + 10))[0]).toBeNull()
          expect((await store.refreshableSessions([session.refreshHash], NOW + 10))[0]).toBeNull()
          expect(await store.revokeSessions([session.refreshHash], NOW + 10)).toEqual([null])
        }
      })

      test('are found by the hash of their refresh token', async () => {
        const session = newSession()
        await store.addSessions([session])
        expect(await store.refreshableSessions([hash(), session.refreshHash], NOW)).toEqual([
          null,
          {
            id: session.id,
            email: ANA,
            lastUsedAt: NOW,
            idleExpiresAt: session.idleExpiresAt,
            expiresAt: session.expiresAt,
          },
        ])
      })

      test('are revoked once: the second time is null, and no question finds them any more', async () => {
        const session = newSession()
        await store.addSessions([session])
        expect(await store.revokeSessions([hash(), session.refreshHash, session.refreshHash], NOW)).toEqual([
          null,
          { id: session.id, email: ANA },
          null,
        ])
        expect(await store.liveSessions([session.id], NOW)).toEqual([null])
        expect(await store.refreshableSessions([session.refreshHash], NOW)).toEqual([null])
        expect(await store.extendSessions([{ id: session.id, lastUsedAt: NOW, idleExpiresAt: NOW + 99 }])).toEqual([
          false,
        ])
      })

      test('are revoked by exactly one of many concurrent callers', async () => {
        const session = newSession()
        await store.addSessions([session])
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => store.revokeSessions([session.refreshHash], NOW)),
        )
        expect(answers.flat().filter(Boolean)).toHaveLength(1)
      })

      test('are extended, and never shortened', async () => {
        const session = newSession({ idleExpiresAt: NOW + 50 })
        await store.addSessions([session])
        expect(await store.extendSessions([{ id: session.id, lastUsedAt: NOW, idleExpiresAt: NOW + 80 }])).toEqual([
          true,
        ])
        expect(await store.extendSessions([{ id: session.id, lastUsedAt: NOW, idleExpiresAt: NOW + 20 }])).toEqual([
          true,
        ])
        expect((await store.refreshableSessions([session.refreshHash], NOW))[0]?.idleExpiresAt).toBe(NOW + 80)
      })

      test('are not removed when others are added: only a sweep, by a time that is agreed, removes for all', async () => {
        const old = newSession({ idleExpiresAt: NOW + 1 })
        await store.addSessions([old])
        const other = newSession({ createdAt: NOW + 2 })
        await store.addSessions([other])
        const ids = (await store.sessionsAfter('', 100)).map(({ id }) => id)
        expect(ids.toSorted()).toEqual([old.id, other.id].toSorted())
      })

      test('remember when they were last used, which never moves back, and their user agent and network', async () => {
        const session = newSession({ idleExpiresAt: NOW + 50 })
        await store.addSessions([session])
        const extend = (lastUsedAt: number) =>
          store.extendSessions([{ id: session.id, lastUsedAt, idleExpiresAt: NOW + 80 }])
        await extend(NOW + 9)
        await extend(NOW + 3)
        expect((await store.refreshableSessions([session.refreshHash], NOW))[0]?.lastUsedAt).toBe(NOW + 9)
        expect((await store.sessionsOf(ANA, NOW, 9))[0]).toMatchObject({
          lastUsedAt: NOW + 9,
          userAgent: 'curl/8.0',
          network: '192.0.2.0/24',
        })
      })

      test('are removed in steps after their expiry, and the others stay', async () => {
        const expired = Array.from({ length: 700 }, () => newSession({ idleExpiresAt: NOW + 1 }))
        const live = newSession({ idleExpiresAt: NOW + 3 })
        await store.addSessions([...expired, live])
        const ids = async () => (await store.sessionsAfter('', 10_000)).map(({ id }) => id)
        expect(await store.dropExpiredSessions(NOW)).toBe(true)
        expect(await ids()).toHaveLength(701)
        expect(await store.dropExpiredSessions(NOW + 2)).toBe(false)
        expect((await ids()).length).toBeGreaterThan(1)
        expect(await store.dropExpiredSessions(NOW + 2)).toBe(true)
        expect(await ids()).toEqual([live.id])
      })

      test('can be added as an empty list', async () => {
        expect(await store.addSessions([], 1)).toEqual([])
      })

      test('are not added at all if one of them cannot be added', async () => {
        const [a, b] = [newSession(), newSession()]
        await store.addSessions([b])
        const c = newSession({ refreshHash: b.refreshHash })
        await expect(async () => store.addSessions([a, c])).rejects.toThrow()
        expect(await store.liveSessions([a.id, b.id], NOW)).toEqual([null, expect.anything()])
      })
    })

    test('the earlier time is never later than what it was asked with', async () => {
      expect(await store.earlierTime(0)).toBe(0)
      expect(await store.earlierTime(NOW)).toBeLessThanOrEqual(NOW)
    })

    describe('the sessions of one user', () => {
      const ids = async (email: string, now = NOW) => (await store.sessionsOf(email, now, 100)).map(({ id }) => id)

      test('are listed newest first, only the open ones, and no more than asked for', async () => {
        const [a, b, c] = [1, 3, 2].map((age) => newSession({ createdAt: NOW - age }))
        const expired = [newSession({ idleExpiresAt: NOW }), newSession({ expiresAt: NOW })]
        await store.addSessions([a, b, c, ...expired, newSession({ email: BEN })].flatMap((one) => one ?? []))
        expect(await ids(ANA)).toEqual([a?.id, c?.id, b?.id])
        expect(await store.sessionsOf(ANA, NOW, 2)).toHaveLength(2)
        expect(await ids('nobody@example.com')).toEqual([])
      })

      test('are ended by id only for their owner, and only once', async () => {
        const [mine, other] = [newSession(), newSession({ email: BEN })]
        const [idle, old] = [newSession({ idleExpiresAt: NOW }), newSession({ expiresAt: NOW })]
        await store.addSessions([mine, other, idle, old])
        expect(await store.liveSessions([mine.id], NOW)).toEqual([expect.anything()])
        const asked = [mine, other, idle, old, mine, { id: 'unknown' }].map(({ id }) => ({ id, email: ANA }))
        const ofAnother = { id: mine.id, email: BEN }
        expect(await store.revokeSessionsById([ofAnother, ...asked], NOW)).toEqual([
          false,
          true,
          false,
          false,
          false,
          false,
          false,
        ])
        expect(await store.liveSessions([mine.id, other.id], NOW)).toEqual([null, expect.anything()])
        expect(await store.refreshableSessions([mine.refreshHash], NOW)).toEqual([null])
      })

      test('are all ended at once, and those of other users are not', async () => {
        const expired = [newSession({ idleExpiresAt: NOW }), newSession({ expiresAt: NOW })]
        const mine = [newSession(), newSession(), ...expired]
        const other = newSession({ email: BEN })
        await store.addSessions([...mine, other])
        expect(
          await store.liveSessions(
            mine.map(({ id }) => id),
            NOW,
          ),
        ).toEqual([expect.anything(), expect.anything(), null, null])
        expect(await store.revokeSessionsOf(ANA, NOW)).toBe(2)
        expect(await store.revokeSessionsOf(ANA, NOW)).toBe(0)
        expect(
          await store.liveSessions(
            [...mine, other].map(({ id }) => id),
            NOW,
          ),
        ).toEqual([null, null, null, null, expect.anything()])
      })

      test('are limited: the least recently used end, whatever their expiry, and are refused at once', async () => {
        const [a, b, c] = [newSession(), newSession(), newSession()].map((one, index) => ({
          ...one,
          lastUsedAt: NOW - 10 + index,
          idleExpiresAt: NOW + 100 - index,
        }))
        if (!a || !b || !c) throw new Error('three were made')
        const other = newSession({ email: BEN })
        expect(await store.addSessions([a, b, other], 2)).toEqual([])
        await store.extendSessions([{ id: a.id, lastUsedAt: NOW + 1, idleExpiresAt: NOW + 999 }])
        // The sessions were looked up before, so a session that is remembered is refused, too.
        await store.liveSessions([a.id, b.id, other.id], NOW)
        expect(await store.addSessions([c], 2)).toEqual([{ id: b.id, email: ANA }])
        expect(await store.liveSessions([a.id, b.id, c.id, other.id], NOW)).toEqual([
          expect.anything(),
          null,
          expect.anything(),
          expect.anything(),
        ])
      })

      test('do not count toward the limit after their expiry', async () => {
        const expired = newSession({ idleExpiresAt: NOW })
        const [a, b] = [newSession(), newSession()]
        await store.addSessions([expired, a, b], 2)
        expect((await ids(ANA)).toSorted()).toEqual([a.id, b.id].toSorted())
      })

      test('end in place of expired ones that are still stored', async () => {
        // More than the sessions that are added remove.
        await store.addSessions(
          Array.from({ length: 50 }, () => newSession({ idleExpiresAt: NOW, lastUsedAt: NOW - 9 })),
        )
        const [a, b, c] = [1, 2, 3].map((use) => newSession({ lastUsedAt: NOW + use }))
        if (!a || !b || !c) throw new Error('three were made')
        expect(await store.addSessions([a, b], 2)).toEqual([])
        expect(await store.addSessions([c], 2)).toEqual([{ id: a.id, email: ANA }])
        expect((await ids(ANA)).toSorted()).toEqual([b.id, c.id].toSorted())
      })

      test('stay within the limit when several stores open them at once', async () => {
        await using other = await reopen()
        await Promise.all(
          Array.from({ length: 60 }, (_, index) =>
            (index % 2 ? store : other).addSessions([newSession({ idleExpiresAt: NOW + 100 + index })], 10),
          ),
        )
        expect(await ids(ANA)).toHaveLength(10)
      })
    })

    test('sessions and users are listed in order, and found by id', async () => {
      const sessions = ['a', 'b', 'c'].map((id) => newSession({ id, idleExpiresAt: NOW + 1 }))
      await store.addSessions(sessions)
      const stored = sessions.map((session) => ({ ...session, refreshHash: Buffer.from(session.refreshHash) }))
      expect(await store.sessionsAfter('', 2)).toEqual(stored.slice(0, 2))
      expect(await store.sessionsAfter('b', 9)).toEqual(stored.slice(2))
      await store.applyChanges([put(), put({ email: BEN })])
      const [ana, ben] = await store.usersAfter('', 9)
      expect(await store.usersById([ben?.id ?? 0, 999])).toEqual([ben])
      expect((await store.usersById([ben?.id ?? 0, ana?.id ?? 0])).length).toBe(2)
    })

    test('statistics count the open sessions', async () => {
      await store.addSessions([newSession(), newSession({ idleExpiresAt: NOW + 10 }), newSession({ email: BEN })])
      expect(await store.statistics(NOW)).toMatchObject({ openSessions: 3, replica: null })
      expect(await store.statistics(NOW + 10)).toMatchObject({ openSessions: 2 })
    })

    describeSigningKeys(() => store)
    describeAuditLog(() => store)
    describeRestCalls(
      () => store,
      () => reopen(),
    )

    describe('documents', () => {
      test('keep their text byte for byte', async () => {
        const text =
          '{"id":"p","a":1.0,"b":1E400,"a":-0,"é":"\\u0000\\ud800 \u2028😀","n":123456789012345678901234567890}'
        await store.applyChanges([put({ text })])
        expect(await texts(ANA)).toEqual([text])
      })

      test('come in the order in which they were stored, each kind separately', async () => {
        await store.applyChanges([
          put({ id: 'z', ref: 'z', text: '1' }),
          put({ kind: 'template', id: 'z', ref: null, text: '2' }),
          put({ id: 'a', ref: 'a', text: '3' }),
          put({ kind: 'uiLibrary', id: 'z', ref: null, text: '4' }),
        ])
        await store.applyChanges([put({ id: 'm', ref: 'm', text: '5' })])
        expect(await texts(ANA)).toEqual(['1', '3', '5'])
        expect(await texts(ANA, 'template')).toEqual(['2'])
        expect(await texts(ANA, 'uiLibrary')).toEqual(['4'])
      })

      test('are replaced in place, and do not change if their text is the same', async () => {
        await store.applyChanges([put({ id: 'a', ref: 'a' }), put({ id: 'b', ref: 'b', text: '1' })])
        const before = await revision(ANA)
        expect(await store.applyChanges([put({ id: 'a', ref: 'a' })])).toEqual(['unchanged'])
        expect(await revision(ANA)).toBe(before)
        expect(await store.applyChanges([put({ id: 'a', ref: 'a', text: '2' })])).toEqual(['replaced'])
        expect(await texts(ANA)).toEqual(['2', '1'])
        expect(await revision(ANA)).toBeGreaterThan(before)
      })

      test('do not affect the documents of another user', async () => {
        await store.applyChanges([put({ text: '1' }), put({ email: BEN, text: '2' })])
        const before = await revision(BEN)
        await store.applyChanges([put({ text: '3' })])
        expect([await texts(ANA), await texts(BEN)]).toEqual([['3'], ['2']])
        expect(await revision(BEN)).toBe(before)
      })

      test('are refused, and change nothing, if they would take the reference of another project', async () => {
        await store.applyChanges([put({ id: 'a', ref: 'r', text: '1' })])
        const before = await revision(ANA)
        const outcomes = await store.applyChanges([put({ id: 'b', ref: 'r' }), put({ id: 'c', ref: 'c', text: '2' })])
        expect(outcomes).toEqual(['refTaken', 'added'])
        expect(await texts(ANA)).toEqual(['1', '2'])
        expect(await store.applyChanges([put({ id: 'c', ref: 'r' })])).toEqual(['refTaken'])
        expect(await texts(ANA)).toEqual(['1', '2'])
        expect(await revision(ANA)).toBeGreaterThan(before)
      })

      test('have the same outcomes in a large batch as one by one', async () => {
        const many = (from: number, count: number): Change[] =>
          Array.from({ length: count }, (_, n) =>
            put({ id: `p${from + n}`, ref: `r${from + n}`, text: `[${from + n}]` }),
          )
        const outcomes = await store.applyChanges([
          ...many(0, 20),
          put({ id: 'thief', ref: 'r3' }),
          ...many(20, 20),
          put({ id: 'p2', ref: 'r2', text: '"again"' }),
          put({ id: 'p5', ref: 'r5', text: '[5]' }),
          put({ id: 'p6', ref: 'r7' }),
          put({ id: 'thief', ref: 'free' }),
          ...many(40, 5),
          put({ id: 'p44', ref: 'r44', text: '"again"' }),
          put({ email: BEN, id: 'p0', ref: 'r0' }),
          put({ kind: 'template', id: 'p0', ref: null }),
        ])
        const added = (count: number) => Array<string>(count).fill('added')
        expect(outcomes).toEqual([
          ...added(20),
          'refTaken',
          ...added(20),
          'replaced',
          'unchanged',
          'refTaken',
          ...added(1 + 5),
          'replaced',
          'added',
          'added',
        ])
        const [projects] = await store.documentsOf([
          { userId: await userId(ANA), kind: 'project', after: 0, limit: null },
        ])
        const ids = Array.from({ length: 45 }, (_, n) => `p${n}`)
        expect(projects?.map(({ id }) => id)).toEqual([...ids.slice(0, 40), 'thief', ...ids.slice(40)])
        expect((await texts(ANA)).slice(1, 4)).toEqual(['[1]', '"again"', '[3]'])
      })

      test('give up their reference when they are stored with another one', async () => {
        await store.applyChanges([put({ id: 'a', ref: 'r' })])
        expect(await store.applyChanges([put({ id: 'a', ref: 's' }), put({ id: 'b', ref: 'r' })])).toEqual([
          'replaced',
          'added',
        ])
      })

      test('are found by reference, only among those of the user', async () => {
        await store.applyChanges([put({ ref: 'r', text: '1' }), put({ email: BEN, ref: 's', text: '2' })])
        const [ana, ben] = [await userId(ANA), await userId(BEN)]
        const found = await store.projectsByRef([
          { userId: ben, ref: 's' },
          { userId: ana, ref: 's' },
          { userId: ana, ref: 'r' },
        ])
        expect(found.map((document) => document?.text)).toEqual(['2', undefined, '1'])
        expect(
          await store.projectIdsByRef([
            { email: ANA, ref: 'r' },
            { email: ANA, ref: 's' },
            { email: 'nobody@example.com', ref: 'r' },
          ]),
        ).toEqual(['p', null, null])
      })

      test('are found by id, only among those of the user and of that kind', async () => {
        await store.applyChanges([
          put({ id: 'same', ref: 'r', text: '1' }),
          put({ kind: 'template', id: 'same', ref: null, text: '2' }),
          put({ email: BEN, id: 'same', ref: 's', text: '3' }),
          put({ email: BEN, kind: 'uiLibrary', id: 'é 😀', ref: null, text: '4' }),
        ])
        const [ana, ben] = [await userId(ANA), await userId(BEN)]
        const found = await store.documentsById([
          { userId: ben, kind: 'uiLibrary', id: 'é 😀' },
          { userId: ben, kind: 'template', id: 'same' },
          { userId: ben, kind: 'project', id: 'same' },
          { userId: ana, kind: 'template', id: 'same' },
          { userId: ana, kind: 'project', id: 'same' },
          { userId: ana, kind: 'project', id: 'SAME' },
          { userId: 999_999, kind: 'project', id: 'same' },
          { userId: ana, kind: 'project', id: 'same' },
        ])
        expect(found.map((document) => document?.text ?? null)).toEqual(['4', null, '3', '2', '1', null, null, '1'])
        const [projects] = await store.documentsOf([{ userId: ana, kind: 'project', after: 0, limit: null }])
        expect(found[4]).toEqual(projects?.[0])
      })

      test('come in pages', async () => {
        const ids = ['a', 'b', 'c', 'd', 'e']
        await store.applyChanges(ids.map((id) => put({ id, ref: id, text: `"${id}"` })))
        const list = { userId: await userId(ANA), kind: 'project' as const }
        const [first = [], none = []] = await store.documentsOf([
          { ...list, after: 0, limit: 2 },
          { ...list, after: 0, limit: 0 },
        ])
        expect([first.map(({ id }) => id), none]).toEqual([['a', 'b'], []])
        const [rest = [], beyond = []] = await store.documentsOf([
          { ...list, after: first[1]?.position ?? 0, limit: null },
          { ...list, after: Number.MAX_SAFE_INTEGER, limit: null },
        ])
        expect([rest.map(({ id }) => id), beyond]).toEqual([['c', 'd', 'e'], []])
        expect(await store.documentCounts([list, { ...list, kind: 'template' }])).toEqual([5, 0])
      })

      test('are returned in the order of the questions, also for many users', async () => {
        await store.applyChanges([put({ text: '1' }), put({ email: BEN, text: '2' })])
        const page = { kind: 'project' as const, after: 0, limit: null }
        const pages = await store.documentsOf([
          { userId: await userId(BEN), ...page },
          { userId: 999_999, ...page },
          { userId: await userId(ANA), ...page },
        ])
        expect(pages.map((documents) => documents.map(({ text }) => text))).toEqual([['2'], [], ['1']])
      })

      test('pass references on to each other within one batch, with the right result', async () => {
        const give = (id: string, ref: string): Change => put({ id, ref, text: '{}' })
        await store.applyChanges([give('a', 'r'), give('b', 's')])
        const outcomes = await store.applyChanges([
          give('a', 's'),
          give('a', 't'),
          give('b', 'r'),
          give('c', 's'),
          give('c', 'u'),
          give('a', 's'),
          give('d', 'u'),
        ])
        expect(outcomes).toEqual(['refTaken', 'replaced', 'replaced', 'added', 'replaced', 'replaced', 'refTaken'])
        const list = { userId: await userId(ANA), kind: 'project', after: 0, limit: null } as const
        const [documents = []] = await store.documentsOf([list])
        expect(documents.map(({ id, ref }) => `${id}${ref}`)).toEqual(['as', 'br', 'cu'])
      })
    })

    describe('exports', () => {
      const later = { createdAt: '2026-02-01T01:00:00+01:00', instant: '2026-02-01T00:00:00.000000000Z' }

      beforeEach(async () => {
        await store.applyChanges([put({ id: 'p', ref: 'r' })])
      })

      test('are returned newest first, by instant and then by order of import', async () => {
        await addExport(ANA, 'r', ['1'], later, 'late')
        await addExport(ANA, 'r', ['2'], MADE, 'early')
        await addExport(ANA, 'r', ['3'], later, 'late too')
        const ref = { userId: await userId(ANA), ref: 'r' }
        const [all = []] = await store.exportsOf([{ ...ref, after: null, limit: null }])
        expect(all.map(({ digest }) => digest)).toEqual(['late too', 'late', 'early'])
        expect((await store.latestExports([ref]))[0]).toEqual(all[0])
        expect(all[0]).toMatchObject({ ref: 'r', ...later, byteLength: 10, elementCount: 1 })
        const [page = []] = await store.exportsOf([{ ...ref, after: all[0] ?? null, limit: 1 }])
        expect(page.map(({ digest }) => digest)).toEqual(['late'])
        expect(await store.exportCounts([ref, { ...ref, ref: 'x' }])).toEqual([3, 0])
      })

      test('are found by reference, instant and digest, as long as the project exists', async () => {
        await store.applyChanges([put({ email: BEN, id: 'p', ref: 'r' })])
        await addExport(ANA, 'r', ['1'], MADE, 'x')
        await addExport(ANA, 'r', ['2'], MADE, 'y')
        await addExport(BEN, 'r', ['3'], MADE, 'x')
        await addExport(ANA, 'gone', ['4'], MADE, 'x')
        const { instant } = MADE
        const [ana, ben] = [await userId(ANA), await userId(BEN)]
        const found = await store.exportsByKey([
          { userId: ben, ref: 'r', instant, digest: 'x' },
          { userId: ana, ref: 'r', instant, digest: 'y' },
          { userId: ana, ref: 'r', instant, digest: 'x' },
          { userId: ben, ref: 'r', instant, digest: 'y' },
          { userId: ana, ref: 'r', instant: later.instant, digest: 'x' },
          { userId: ana, ref: 'gone', instant, digest: 'x' },
        ])
        const [history = []] = await store.exportsOf([{ userId: ana, ref: 'r', after: null, limit: null }])
        expect(found.slice(1)).toEqual([...history, null, null, null])
        expect(found[0]).toMatchObject({ userId: ben, ref: 'r', digest: 'x' })
      })

      test('return their elements in order and in pages', async () => {
        await addExport(ANA, 'r', ['{"a":1.0}', '2', '3', '4'])
        const user = await userId(ANA)
        const [newest] = await store.latestExports([{ userId: user, ref: 'r' }])
        const asked = { userId: user, exportId: newest?.id ?? 0 }
        const pages = await store.elementsOf([
          { ...asked, after: 0, limit: null },
          { ...asked, after: 1, limit: 2 },
          { ...asked, after: 4, limit: null },
        ])
        expect(pages.map((page) => page.map(({ text }) => text))).toEqual([
          ['{"a":1.0}', '2', '3', '4'],
          ['2', '3'],
          [],
        ])
        expect(pages[1]?.map(({ position }) => position)).toEqual([2, 3])
      })

      test('return their elements in runs, bounded by number and bytes, with at least one element', async () => {
        await store.applyChanges([put()])
        const long = `"${'é'.repeat(50)}"`
        await addExport(ANA, 'r', ['{"a":1.0}', '22', long, '"4"', '5'])
        const owner = await userId(ANA)
        const [newest] = await store.latestExports([{ userId: owner, ref: 'r' }])
        const asked = { userId: owner, exportId: newest?.id ?? 0, digest: newest?.digest ?? '' }
        const runs = await store.elementRunsOf([
          { ...asked, after: 0, maxElements: 100, maxBytes: 1_000 },
          { ...asked, after: 0, maxElements: 2, maxBytes: 1_000 },
          { ...asked, after: 0, maxElements: 100, maxBytes: 11 },
          { ...asked, after: 0, maxElements: 100, maxBytes: 10 },
          { ...asked, after: 2, maxElements: 100, maxBytes: 1 },
          { ...asked, after: 3, maxElements: 1, maxBytes: 0 },
          { ...asked, after: 5, maxElements: 1, maxBytes: 1 },
          { ...asked, exportId: asked.exportId + 1, after: 0, maxElements: 1, maxBytes: 1 },
          { ...asked, digest: 'another', after: 0, maxElements: 1, maxBytes: 1 },
        ])
        expect(runs.map((run) => run && [Buffer.from(run.bytes).toString(), run.last])).toEqual([
          [`{"a":1.0},22,${long},"4",5`, 5],
          ['{"a":1.0},22', 2],
          ['{"a":1.0},22', 2],
          ['{"a":1.0}', 1],
          [long, 3],
          ['"4"', 4],
          null,
          null,
          null,
        ])
        expect(await store.elementRunsOf([])).toEqual([])
      })

      test('are equal if reference, instant and digest are equal', async () => {
        expect((await addExport(ANA, 'r', ['1'])).at(-1)).toBe('added')
        const before = await revision(ANA)
        expect((await addExport(ANA, 'r', ['1'])).at(-1)).toBe('unchanged')
        expect(await revision(ANA)).toBe(before)
        expect((await addExport(ANA, 'r', ['2'], MADE, 'other')).at(-1)).toBe('added')
        expect((await addExport(ANA, 'r', ['1'], later)).at(-1)).toBe('added')
        expect(await store.exportCounts([{ userId: await userId(ANA), ref: 'r' }])).toEqual([3])
      })

      test('are in no list, count or look-up before they are sealed', async () => {
        const stage = randomUUID()
        const before = await revision(ANA)
        await store.applyChanges([
          { type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW },
          { type: 'stageElements', stage, position: 1, texts: ['1', '2'], now: NOW },
        ])
        const ref = { userId: await userId(ANA), ref: 'r' }
        expect(await store.latestExports([ref])).toEqual([null])
        expect(await store.exportsOf([{ ...ref, after: null, limit: null }])).toEqual([[]])
        expect(await store.exportCounts([ref])).toEqual([0])
        expect(await revision(ANA)).toBe(before)
        await store.applyChanges([
          { type: 'stageElements', stage, position: 3, texts: ['3'], now: NOW },
          { type: 'sealExport', stage, digest: 'd', byteLength: 7, elementCount: 3 },
        ])
        const [sealed] = await store.latestExports([ref])
        const [elements] = await store.elementsOf([
          { userId: ref.userId, exportId: sealed?.id ?? 0, after: 0, limit: null },
        ])
        expect(elements?.map(({ text }) => text)).toEqual(['1', '2', '3'])
        expect(await revision(ANA)).toBeGreaterThan(before)
      })

      test('belong to their user, and to a project of that user', async () => {
        await addExport(BEN, 'r', ['1'])
        const ben = await userId(BEN)
        expect(
          await store.latestExports([
            { userId: await userId(ANA), ref: 'r' },
            { userId: ben, ref: 'r' },
          ]),
        ).toEqual([null, undefined])
        expect(await store.exportRefsWithoutProject(ben)).toEqual(['r'])
        await store.applyChanges([put({ email: BEN, ref: 'r' })])
        expect(await store.latestExports([{ userId: ben, ref: 'r' }])).toEqual([expect.objectContaining({ ref: 'r' })])
        expect(await store.exportRefsWithoutProject(ben)).toEqual([])
      })

      test('return the newest of each project in the order of the questions, for any user and reference', async () => {
        const refs = ['plain', 'with "quotes" and \\', 'Ünï 💛 \u2028', '["a"]', '10', '1e1']
        for (const email of [ANA, BEN]) {
          for (const ref of refs) {
            await store.applyChanges([put({ email, ref, id: ref })])
            await addExport(email, ref, [JSON.stringify(`${email} old`)])
            await addExport(email, ref, [JSON.stringify(`${email} new`)], later, `${email} ${ref} first`)
            await addExport(email, ref, [JSON.stringify(`${email} newer`)], later, `${email} ${ref}`)
          }
          await addExport(email, 'without project', ['1'])
        }
        await store.applyChanges([put({ ref: 'empty', id: 'empty' })])
        const [ana, ben] = [await userId(ANA), await userId(BEN)]
        const asked = [
          { userId: ana, ref: 'empty' },
          { userId: ben, ref: 'empty' },
          ...refs.map((ref) => ({ userId: ana, ref })),
          { userId: ana, ref: 'missing' },
          { userId: ana, ref: 'without project' },
          ...refs.toReversed().flatMap((ref) => [
            { userId: ben, ref },
            { userId: ana, ref },
          ]),
          { userId: ana, ref: 'plain' },
          { userId: ana, ref: 'plain' },
        ]
        const found = await store.latestExports(asked)
        expect(found.map((one) => one && [one.userId, one.ref, one.instant, one.digest])).toEqual(
          asked.map(({ userId, ref }) => {
            if (ref === 'empty' && userId === ana) return null
            if (ref === 'empty' || ref === 'missing' || ref === 'without project') return undefined
            return [userId, ref, later.instant, `${userId === ana ? ANA : BEN} ${ref}`]
          }),
        )
        expect(await store.latestExports([])).toEqual([])
        const isThere = found.map((one) => one !== undefined)
        const known = asked.filter((_, index) => isThere[index]).map((one) => ({ ...one, isKnown: true }))
        expect(await store.latestExports(known)).toEqual(found.filter((_, index) => isThere[index]))
        const mixed = asked.map((one, index) => ({ ...one, isKnown: isThere[index] && index % 3 === 0 }))
        expect(await store.latestExports(mixed)).toEqual(found)
      })

      test('are dropped once they are stale, if they were left staged', async () => {
        const [old, fresh] = [randomUUID(), randomUUID()]
        await store.applyChanges([
          { type: 'stageExport', stage: old, email: ANA, ref: 'r', ...MADE, now: NOW },
          { type: 'stageElements', stage: old, position: 1, texts: ['1'], now: NOW },
          { type: 'stageExport', stage: fresh, email: ANA, ref: 'r', ...MADE, now: NOW + 10 },
        ])
        while (!(await store.dropStaleStages(NOW + 5)));
        await expect(seal(old)).rejects.toThrow()
        expect(await seal(fresh)).toEqual(['added'])
      })

      async function seal(stage: string) {
        return store.applyChanges([{ type: 'sealExport', stage, digest: 'd', byteLength: 2, elementCount: 0 }])
      }
    })

    describe('questions that name a state version', () => {
      /** Asks every read of a user, and names the state version; returns the versions that the reads reported. */
      async function toldBy(user: number, stateVersion: string, exportId: number) {
        const told: (string | null | undefined)[] = []
        async function asking(read: (of: { userId: number; expected: ExpectedVersion }) => unknown): Promise<void> {
          const index = told.push(undefined) - 1
          const onRead = (found: string | null) => {
            told[index] = found
          }
          await read({ userId: user, expected: { stateVersion, onRead } })
        }
        const page = { after: 0, limit: null }
        await asking((of) => store.documentsOf([{ ...of, ...page, kind: 'project' }]))
        await asking((of) => store.documentsOf([{ ...of, ...page, kind: 'uiLibrary' }]))
        await asking((of) => store.documentCounts([{ ...of, kind: 'project' }]))
        await asking((of) => store.projectsByRef([{ ...of, ref: 'r' }]))
        await asking((of) => store.projectsByRef([{ ...of, ref: 'none' }]))
        await asking((of) => store.latestExports([{ ...of, ref: 'r' }]))
        await asking((of) => store.latestExports([{ ...of, ref: 'none' }]))
        await asking((of) => store.exportsOf([{ ...of, after: null, limit: null, ref: 'r' }]))
        await asking((of) => store.exportCounts([{ ...of, ref: 'r' }]))
        await asking((of) => store.elementsOf([{ ...of, ...page, exportId }]))
        await asking((of) => store.elementsOf([{ ...of, ...page, exportId: 0 }]))
        await asking((of) => store.documentsById([{ ...of, kind: 'project', id: 'p' }]))
        await asking((of) => store.documentsById([{ ...of, kind: 'project', id: 'none' }]))
        const { instant } = MADE
        await asking((of) => store.exportsByKey([{ ...of, ref: 'r', instant, digest: 'd1' }]))
        await asking((of) => store.exportsByKey([{ ...of, ref: 'r', instant, digest: 'none' }]))
        const within = { ...page, maxBytes: 9 }
        await asking((of) => store.documentsOf([{ ...of, ...page, kind: 'project', fromEnd: true }]))
        await asking((of) => store.documentsWithin([{ ...of, ...within, kind: 'project' }]))
        await asking((of) => store.documentsWithin([{ ...of, ...within, kind: 'uiLibrary', fromEnd: true }]))
        await asking((of) => store.exportsOf([{ ...of, after: null, limit: 1, ref: 'r', fromEnd: true }]))
        await asking((of) => store.elementsOf([{ ...of, after: 0, limit: 1, exportId, fromEnd: true }]))
        await asking((of) => store.elementsWithin([{ ...of, ...within, exportId }]))
        await asking((of) => store.elementsWithin([{ ...of, ...within, exportId: 0, fromEnd: true }]))
        const run = { digest: 'd1', after: 0, maxElements: 9, maxBytes: 99 }
        await asking((of) => store.elementRunsOf([{ ...of, ...run, exportId }]))
        await asking((of) => store.elementRunsOf([{ ...of, ...run, exportId: 0 }]))
        return new Set(told)
      }

      test('learn of another state version, and are answered from the newest state', async () => {
        await store.applyChanges([put({ text: '1' })])
        await addExport(ANA, 'r', ['1'])
        const session = newSession()
        await store.addSessions([session])
        const stateVersion = async () => (await store.liveSessions([session.id], NOW))[0]?.stateVersion ?? ''
        const user = await userId(ANA)
        const [newest] = await store.latestExports([{ userId: user, ref: 'r' }])
        const before = await stateVersion()
        expect(await toldBy(user, before, newest?.id ?? 0)).toEqual(new Set([before]))
        await store.applyChanges([put({ text: '2' }), put({ email: BEN })])
        const after = await stateVersion()
        expect(after).not.toBe(before)
        for (const asked of [before, after])
          expect(await toldBy(user, asked, newest?.id ?? 0), asked).toEqual(new Set([after]))
        expect(await toldBy(999_999, before, 0)).toEqual(new Set([null]))
        expect(await texts(ANA)).toEqual(['2'])
      })

      test('learn it one by one, whichever state version each question of a batch names', async () => {
        await store.applyChanges([put({ text: '1' })])
        const session = newSession()
        await store.addSessions([session])
        const [live] = await store.liveSessions([session.id], NOW)
        const told: (string | null)[][] = []
        const list = { userId: await userId(ANA), kind: 'project' as const, after: 0, limit: null }
        const asked = ['another', live?.stateVersion ?? '', ''].map((stateVersion) => ({
          ...list,
          expected: { stateVersion, onRead: (found: string | null) => told.push([stateVersion, found]) },
        }))
        const answers = await store.documentsOf([list, ...asked])
        expect(answers.map((documents) => documents.map(({ text }) => text))).toEqual([['1'], ['1'], ['1'], ['1']])
        const found = live?.stateVersion
        expect(told).toEqual([
          ['another', found],
          [found, found],
          ['', found],
        ])
      })
    })

    describe('changes', () => {
      test('leave nothing of their batch if one of them fails, and do not affect other batches', async () => {
        const bad: Change = { type: 'sealExport', stage: 'unknown', digest: '', byteLength: 0, elementCount: 0 }
        const [failed, kept] = await Promise.allSettled([
          store.applyChanges([put({ id: 'a', ref: 'a' }), bad]),
          store.applyChanges([put({ id: 'b', ref: 'b', text: '1' })]),
        ])
        expect([failed.status, kept.status]).toEqual(['rejected', 'fulfilled'])
        expect(await texts(ANA)).toEqual(['1'])
      })

      test('are visible once they are acknowledged, whatever was read just before', async () => {
        await store.applyChanges([put({ text: '1' })])
        const id = await userId(ANA)
        const read = async () => {
          const [documents] = await store.documentsOf([{ userId: id, kind: 'project', after: 0, limit: null }])
          return documents?.map(({ text }) => text)
        }
        // The reads of the lines above end with this turn.
        await yieldTurn()
        const writing = store.applyChanges([put({ text: '2' })])
        const reading = read()
        await writing
        expect(await read()).toEqual(['2'])
        await reading
      })

      test('are seen by another store on the same database', async () => {
        await using other = await reopen()
        const session = newSession()
        await other.addSessions([session])
        await other.applyChanges([put({ text: '1' })])
        expect((await store.liveSessions([session.id], NOW))[0]?.userId).toEqual(expect.any(Number))
        expect(await texts(ANA)).toEqual(['1'])
        await store.applyChanges([put({ text: '2' })])
        await store.revokeSessions([session.refreshHash], NOW)
        expect(await other.liveSessions([session.id], NOW)).toEqual([null])
      })

      test('are all stored, each at a position of its own, when many writers change one list', async () => {
        await using other = await reopen()
        const ids = Array.from({ length: 60 }, (_, index) => `p${index}`)
        await Promise.all(
          ids.map((id, index) => (index % 2 ? store : other).applyChanges([put({ id, ref: id, text: `"${id}"` })])),
        )
        expect((await texts(ANA)).toSorted()).toEqual(ids.map((id) => `"${id}"`).toSorted())
        const [documents = []] = await store.documentsOf([
          { userId: await userId(ANA), kind: 'project', after: 0, limit: null },
        ])
        expect(new Set(documents.map(({ position }) => position)).size).toBe(ids.length)
      })
    })

    describe('snapshots and lists of users', () => {
      test('a snapshot stays as it was opened, whatever is written meanwhile', async () => {
        await store.applyChanges([put({ text: '1' })])
        await using snapshot = await store.openSnapshot()
        await store.applyChanges([put({ text: '2' }), put({ email: BEN })])
        const page = { userId: await userId(ANA), kind: 'project' as const, after: 0, limit: null }
        expect((await snapshot.documentsOf([page]))[0]?.map(({ text }) => text)).toEqual(['1'])
        expect(await snapshot.usersAfter('', 10)).toHaveLength(1)
        expect(await store.usersAfter('', 10)).toHaveLength(2)
      })

      test('users are listed in order of email', async () => {
        await store.applyChanges(['c@x.org', 'a@x.org', 'b@x.org'].map((email) => put({ email })))
        const emails = async (after: string, limit: number) =>
          (await store.usersAfter(after, limit)).map(({ email }) => email)
        expect(await emails('', 2)).toEqual(['a@x.org', 'b@x.org'])
        expect(await emails('b@x.org', 2)).toEqual(['c@x.org'])
      })
    })

    test('a store that is closed and opened again has everything that was acknowledged', async () => {
      const session = newSession()
      await store.addSessions([session])
      await store.applyChanges([put({ text: '1' })])
      const before = await revision(ANA)
      await store[Symbol.asyncDispose]()
      store = await reopen()
      expect(await texts(ANA)).toEqual(['1'])
      expect((await store.liveSessions([session.id], NOW))[0]).toMatchObject({ email: ANA, revision: before })
      await store.ping()
    })
  })
}
