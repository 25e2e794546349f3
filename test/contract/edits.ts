// The contract suite of removing, renaming, pruning and replacing: every sentence of `workspace-edits.ts`, on each adapter.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { dumpUsers } from '../../src/import-export/dump.ts'
import { ListFullError, StagedExportGoneError } from '../../src/store/contract.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { hashedEmail } from '../../src/store/hashed-email.ts'
import { MAX_ELEMENTS } from '../../src/store/reads-contract.ts'
import type { Pruned, ReplacementStep } from '../../src/store/workspace-edits.ts'
import { ANA, BEN, MADE, NOW, newSession, put } from './values.ts'

const STALE = NOW + 1_000_000_000
const at = (day: number) => ({
  createdAt: `2026-01-0${day}T00:00:00Z`,
  instant: `2026-01-0${day}T00:00:00.000000000Z`,
})

export interface EditsSubject {
  readonly store: MigratableStore
  /** The number of rows in the tables that a workspace consists of, including staged rows. */
  readonly countRows: () => Promise<number>
  /** Runs SQL as somebody would in the database's own shell. */
  readonly hand: (sql: string) => Promise<void>
}

export function describeEdits(name: string, open: () => Promise<EditsSubject>): void {
  describe(`removing and replacing on ${name}`, () => {
    let store: MigratableStore
    let countRows: EditsSubject['countRows']
    let hand: EditsSubject['hand']

    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      countRows = opened.countRows
      hand = opened.hand
      return () => store[Symbol.asyncDispose]()
    })

    async function addExport(email: string, ref: string, elements: readonly string[], made = MADE, digest = 'd1') {
      const stage = randomUUID()
      return store.applyChanges([
        { type: 'stageExport', stage, email, ref, ...made, now: NOW },
        { type: 'stageElements', stage, position: 1, texts: elements, now: NOW },
        { type: 'sealExport', stage, digest, byteLength: 10, elementCount: elements.length },
      ])
    }

    async function dump(): Promise<string> {
      await using snapshot = await store.openSnapshot()
      return (await Array.fromAsync(dumpUsers(snapshot))).join('')
    }

    async function stateVersion(email: string): Promise<string | undefined> {
      const session = newSession({ email })
      await store.addSessions([session])
      return (await store.liveSessions([session.id], NOW))[0]?.stateVersion
    }

    async function newestExport(email: string, ref: string): Promise<string | null> {
      const user = await store.userByEmail(email)
      const [found] = user ? await store.latestExports([{ userId: user.id, ref }]) : []
      return found?.digest ?? null
    }

    async function dropStale(): Promise<void> {
      while (!(await store.dropStaleStages(STALE)));
    }

    async function replace(steps: readonly ReplacementStep[]) {
      const replacement = randomUUID()
      await store.beginReplacement(replacement, NOW)
      await store.stageReplacement(replacement, steps, NOW)
      return swapAll(replacement)
    }

    async function swapAll(replacement: string, isDryRun = false, keepsExports = false) {
      const swapped = []
      for (let after = ''; ; ) {
        const some = await store.swapReplacement({
          replacement,
          after,
          maxDocuments: 1,
          isDryRun,
          keepsExports,
          now: NOW,
        })
        swapped.push(...some)
        const last = some.at(-1)
        if (!last) break
        after = last.email
      }
      await store.endReplacement(replacement)
      await dropStale()
      return swapped
    }

    const document = (id: string, step: Partial<Extract<ReplacementStep, { type: 'stageDocument' }>> = {}) =>
      ({ type: 'stageDocument', email: ANA, kind: 'project', id, ref: id, text: `"${id}"`, ...step }) as const

    function exportSteps(email: string, ref: string, elements: readonly string[], made = MADE, digest = 'd1') {
      const stage = randomUUID()
      return [
        { type: 'stageExport', stage, email, ref, ...made },
        { type: 'stageElements', stage, position: 1, texts: elements },
        { type: 'sealExport', stage, digest, byteLength: 10, elementCount: elements.length },
      ] as const
    }

    test('an export that exists already leaves none of the elements that came with it again', async () => {
      await store.applyChanges([put()])
      expect((await addExport(ANA, 'r', ['1', '2'])).at(-1)).toBe('added')
      const rows = await countRows()
      expect((await addExport(ANA, 'r', ['1', '2'])).at(-1)).toBe('unchanged')
      expect(await countRows()).toBe(rows)
    })

    test('a stale export of any length is dropped in parts, and leaves nothing', async () => {
      const rows = await countRows()
      const stage = randomUUID()
      const texts = Array.from({ length: 4_500 }, (_, index) => `${index}`)
      await store.applyChanges([
        { type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW },
        { type: 'stageElements', stage, position: 1, texts, now: NOW },
      ])
      expect(await countRows()).toBeGreaterThan(rows + texts.length)
      let parts = 0
      while (!(await store.dropStaleStages(NOW + 1))) parts += 1
      expect(parts).toBeGreaterThan(1)
      // The user stays.
      expect(await countRows()).toBe(rows + 1)
    })

    test('staged exports are dropped many at a time if small, and not all at once if large', async () => {
      /** Returns in how many calls the staged rows are dropped. */
      async function callsFor(steps: readonly ReplacementStep[]): Promise<number> {
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        await store.stageReplacement(replacement, steps, NOW)
        await store.endReplacement(replacement)
        for (let calls = 1; ; calls += 1) if (await store.dropStaleStages(STALE)) return calls
      }
      const users = Array.from({ length: 400 }, (_, n) => `user-${n}@example.com`)
      const small = users.flatMap((email) => [document('a', { email }), ...exportSteps(email, 'a', ['1'])])
      expect(await callsFor(small)).toBeLessThan(20)
      const text = JSON.stringify('x'.repeat(1_500_000))
      const large = [1, 2, 3].flatMap((day) => exportSteps(ANA, 'a', [text], at(day)))
      expect(await callsFor(large)).toBeGreaterThan(1)
      expect(await countRows()).toBe(0)
    })

    test('a replacement refuses elements and the seal of an export that is gone', async () => {
      await store.beginReplacement('r1', 0)
      const gone = [
        { type: 'stageElements', stage: 'gone', position: 1, texts: ['1'] },
        { type: 'sealExport', stage: 'gone', digest: 'd', byteLength: 3, elementCount: 1 },
      ] as const
      for (const step of gone)
        await expect(async () => store.stageReplacement('r1', [step], 0)).rejects.toThrow('the staged export is gone')
    })

    test('an element is not staged if its export has no position for it', async () => {
      const stage = { type: 'stageExport', email: ANA, ref: 'r', ...MADE } as const
      // These are neighbours: behind the last position of one, the other would begin.
      const [one, other] = [randomUUID(), randomUUID()]
      const fill = (stage: string, texts: readonly string[]) =>
        ({ type: 'stageElements', stage, position: MAX_ELEMENTS, texts }) as const
      const staged = [
        { ...stage, stage: one },
        { ...stage, stage: other },
      ]
      await store.applyChanges([put(), ...staged.map((step) => ({ ...step, now: NOW }))])
      const rows = await countRows()
      for (const name of [one, other]) {
        const step = { ...fill(name, ['1', '2']), now: NOW }
        await expect(async () => store.applyChanges([step]), name).rejects.toThrow(ListFullError)
      }
      await store.beginReplacement('r', NOW)
      const replacing = [{ ...stage, stage: randomUUID() }, ...staged].map(({ stage: name }) => ({
        ...stage,
        stage: `r ${name}`,
      }))
      await store.stageReplacement('r', replacing, NOW)
      const before = await countRows()
      for (const { stage: name } of replacing) {
        await expect(async () => store.stageReplacement('r', [fill(name, ['1', '2'])], NOW)).rejects.toThrow(
          ListFullError,
        )
      }
      expect(await countRows()).toBe(before)
      // What fits is accepted: one text at the last position of each.
      await store.applyChanges([{ ...fill(one, ['1']), now: NOW }])
      await store.stageReplacement('r', [fill(`r ${one}`, ['1'])], NOW)
      expect(await countRows()).toBe(before + 2)
      expect(before).toBeGreaterThan(rows)
    })

    test('a staged export that is still being filled is not stale', async () => {
      const stage = randomUUID()
      await store.applyChanges([{ type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW + 10 }])
      await store.applyChanges([{ type: 'stageElements', stage, position: 1, texts: ['1'], now: NOW + 20 }])
      while (!(await store.dropStaleStages(NOW + 15)));
      const touch = { type: 'stageElements', stage, position: 2, texts: [], now: NOW + 30 } as const
      expect(await store.applyChanges([touch])).toEqual(['staged'])
      while (!(await store.dropStaleStages(NOW + 25)));
      const seal = { type: 'sealExport', stage, digest: 'd', byteLength: 3, elementCount: 1 } as const
      expect(await store.applyChanges([seal])).toEqual(['added'])
      const filling = { type: 'stageElements', stage, position: 2, texts: ['2'], now: NOW } as const
      for (const step of [filling, seal])
        await expect(async () => store.applyChanges([step])).rejects.toThrow(StagedExportGoneError)
    })

    describe('removals among the steps of an import', () => {
      test('remove one document, and say if there is none', async () => {
        await store.applyChanges([put({ id: 'a', ref: 'a' }), put({ id: 'b', ref: 'b', text: '"b"' })])
        const before = await stateVersion(ANA)
        const remove = { type: 'removeDocument', email: ANA, kind: 'project', id: 'a' } as const
        expect(await store.applyChanges([remove, remove])).toEqual(['removed', 'unchanged'])
        expect(await dump()).toBe(`{"kind":"project","email":"${ANA}","data":"b"}\n`)
        expect(await stateVersion(ANA)).not.toBe(before)
        expect(await store.applyChanges([{ ...remove, email: BEN, id: 'b' }])).toEqual(['unchanged'])
        expect(await store.userByEmail(BEN)).toBeNull()
      })

      test('remove the exports of a project, which do not return with another project of its reference', async () => {
        await store.applyChanges([put(), put({ email: BEN })])
        await addExport(ANA, 'r', ['1', '2'])
        await addExport(BEN, 'r', ['3'])
        await store.applyChanges([{ type: 'removeDocument', email: ANA, kind: 'project', id: 'p' }])
        await store.applyChanges([put({ id: 'other' })])
        expect([await newestExport(ANA, 'r'), await newestExport(BEN, 'r')]).toEqual([null, 'd1'])
        await addExport(ANA, 'r', ['1', '2'])
        expect(await newestExport(ANA, 'r')).toBe('d1')
      })

      test('leave the exports of a project alone if a template with the same id is removed', async () => {
        await store.applyChanges([put({ id: 'r' }), put({ kind: 'template', id: 'r', ref: null })])
        await addExport(ANA, 'r', ['1'])
        await store.applyChanges([{ type: 'removeDocument', email: ANA, kind: 'template', id: 'r' }])
        expect(await newestExport(ANA, 'r')).toBe('d1')
      })

      test('find exports by reference and time, or by digest', async () => {
        await store.applyChanges([put(), put({ id: 'q', ref: 'q' })])
        await addExport(ANA, 'r', ['1'], at(1), 'one')
        await addExport(ANA, 'r', ['2'], at(2), 'two')
        await addExport(ANA, 'q', ['2'], at(2), 'two')
        const remove = { type: 'removeExports', email: ANA, ref: null, instant: null, digest: null } as const
        expect(await store.applyChanges([{ ...remove, ref: 'r', instant: at(3).instant }])).toEqual(['unchanged'])
        expect(await store.applyChanges([{ ...remove, ref: 'r', instant: at(1).instant }])).toEqual(['removed'])
        expect(await newestExport(ANA, 'r')).toBe('two')
        expect(await store.applyChanges([{ ...remove, ref: 'r', digest: 'two' }])).toEqual(['removed'])
        expect([await newestExport(ANA, 'r'), await newestExport(ANA, 'q')]).toEqual([null, 'two'])
        expect(await store.applyChanges([{ ...remove, digest: 'two' }])).toEqual(['removed'])
        expect(await newestExport(ANA, 'q')).toBeNull()
      })

      test('take effect in their order among the other steps', async () => {
        const remove = { type: 'removeDocument', email: ANA, kind: 'project', id: 'a' } as const
        const outcomes = await store.applyChanges([
          put({ id: 'a', ref: 'x' }),
          put({ id: 'b', ref: 'x' }),
          remove,
          put({ id: 'b', ref: 'x', text: '"b"' }),
          put({ id: 'a', ref: 'y', text: '"a"' }),
          { type: 'removeUser', email: BEN },
          put({ email: BEN, text: '"ben"' }),
          { type: 'removeUser', email: BEN },
          put({ email: BEN, text: '"ben again"' }),
        ])
        expect(outcomes).toEqual([
          'added',
          'refTaken',
          'removed',
          'added',
          'added',
          'unchanged',
          'added',
          'removed',
          'added',
        ])
        expect(await dump()).toBe(
          `{"kind":"project","email":"${ANA}","data":"b"}\n{"kind":"project","email":"${ANA}","data":"a"}\n` +
            `{"kind":"project","email":"${BEN}","data":"ben again"}\n`,
        )
      })

      test('end the sessions of a user, and leave nothing of what was being imported', async () => {
        const [mine, other] = [newSession(), newSession({ email: BEN })]
        await store.addSessions([mine, other])
        const empty = await countRows()
        await store.applyChanges([put()])
        await addExport(ANA, 'r', ['1', '2'])
        const stage = randomUUID()
        await store.applyChanges([
          { type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW },
          { type: 'stageElements', stage, position: 1, texts: ['3'], now: NOW },
        ])
        expect(await store.applyChanges([{ type: 'removeUser', email: ANA }])).toEqual(['removed'])
        expect(await store.liveSessions([mine.id, other.id], NOW)).toEqual([null, expect.anything()])
        expect(await store.refreshableSessions([mine.refreshHash], NOW)).toEqual([null])
        expect(await countRows()).toBe(empty - 1)
      })
    })

    test('each kind of change gives the user another state version', async () => {
      const removeExports = { type: 'removeExports', email: ANA, ref: null, instant: null, digest: null } as const
      const changes: Readonly<Record<string, () => unknown>> = {
        'a document': () => store.applyChanges([put()]),
        'a second document': () => store.applyChanges([put({ kind: 'template', ref: null })]),
        'a removed document': () =>
          store.applyChanges([{ type: 'removeDocument', email: ANA, kind: 'template', id: 'p' }]),
        'another text': () => store.applyChanges([put({ text: '"other"' })]),
        'an export': () => addExport(ANA, 'r', ['1']),
        'another reference': () => store.applyChanges([put({ ref: 'other', text: '"other"' })]),
        'the exports removed': () => store.applyChanges([removeExports]),
        'an export again': () => addExport(ANA, 'other', ['1']),
        'the exports pruned': async () => {
          const userId = (await store.userByEmail(ANA))?.id ?? 0
          expect(await store.pruneExports({ userId, keep: 0, before: null, after: '' })).toMatchObject({ exports: 1 })
        },
        'a replacement': () => replace([document('a'), ...exportSteps(ANA, 'a', ['1'])]),
        'a replacement of exports alone': () => replace([document('a'), ...exportSteps(ANA, 'a', ['2'], at(2), 'd2')]),
        'a removed project': () =>
          store.applyChanges([{ type: 'removeDocument', email: ANA, kind: 'project', id: 'a' }]),
      }
      const seen = [await stateVersion(ANA)]
      for (const [what, change] of Object.entries(changes)) {
        await change()
        const now = await stateVersion(ANA)
        expect(seen, what).not.toContain(now)
        seen.push(now)
      }
      await store.renameUser(ANA, BEN)
      expect(seen, 'another email').not.toContain(await stateVersion(BEN))
    })

    test('a user without any data can be added, and then exists', async () => {
      const add = { type: 'addUser', email: ANA } as const
      expect(await store.applyChanges([add, { ...add }, put(), { ...add, email: BEN }])).toEqual([
        'added',
        'unchanged',
        'added',
        'added',
      ])
      expect(await store.userByEmail(BEN)).not.toBeNull()
      expect(await store.applyChanges([add])).toEqual(['unchanged'])
    })

    test('removed users are told apart from unknown ones, and what they had is counted', async () => {
      await store.applyChanges([put(), put({ kind: 'template', id: 't', ref: null })])
      await addExport(ANA, 'r', ['1'])
      // No project takes this one along.
      await addExport(BEN, 'of no project', ['1'])
      await store.addSessions([newSession(), newSession(), newSession({ email: BEN })])
      const held = {
        email: ANA,
        projects: 1,
        templates: 1,
        uiLibraries: 0,
        exports: 1,
        exportBytes: 10,
        sessions: 2,
      }
      expect(await store.holdingsOf(['nobody@example.com', ANA])).toEqual([null, held])
      expect(await store.removeUsers([ANA, 'nobody@example.com', BEN, ANA])).toEqual([
        held,
        null,
        { ...held, email: BEN, projects: 0, templates: 0, sessions: 1 },
        null,
      ])
      expect(await countRows()).toBe(0)
    })

    test('a renamed user keeps everything except the sessions, and cannot take the email of another user', async () => {
      const session = newSession()
      await store.addSessions([session])
      await store.applyChanges([put()])
      await addExport(ANA, 'r', ['1'])
      const id = (await store.userByEmail(ANA))?.id
      const before = await stateVersion(ANA)
      await store.applyChanges([put({ email: 'carl@example.com' })])
      expect(await store.renameUser(ANA, 'carl@example.com')).toBe('taken')
      expect(await store.renameUser('nobody@example.com', BEN)).toBe('unknown')
      expect(await store.liveSessions([session.id], NOW)).toEqual([expect.objectContaining({ stateVersion: before })])
      expect(await store.renameUser(ANA, BEN)).toBe('renamed')
      expect(await store.userByEmail(ANA)).toBeNull()
      expect((await store.userByEmail(BEN))?.id).toBe(id)
      expect(await store.liveSessions([session.id], NOW)).toEqual([null])
      expect(await newestExport(BEN, 'r')).toBe('d1')
      expect(await stateVersion(BEN)).not.toBe(before)
    })

    test('the audit log names removed and renamed users by a hash from then on, and others as before', async () => {
      const entry = { at: NOW, kind: 'login', result: 'done', network: '192.0.2.0/24', detail: 'd', count: 2 }
      const [CARL, DORA] = ['carl@example.com', 'dora@example.com']
      const names = [ANA, BEN, 'hmac-sha256:5b1f', CARL, '', ANA, DORA]
      await store.addAuditEntries({ writer: 'w', sequence: 1, entries: names.map((who) => ({ ...entry, who })) })
      const entries = () => store.auditEntries({ from: null, to: null, kind: null, who: null }, 0, 99)
      const before = await entries()
      await store.applyChanges([put(), put({ email: BEN }), put({ email: DORA })])
      expect(await store.renameUser(BEN, DORA)).toBe('taken')
      expect(await entries()).toEqual(before)
      expect(await store.renameUser(BEN, 'new@example.com')).toBe('renamed')
      // Of Carl there are only entries.
      expect(await store.removeUsers([ANA, CARL])).toEqual([expect.objectContaining({ email: ANA }), null])
      await store.applyChanges([{ type: 'removeUser', email: DORA }])
      const salt = await store.auditSalt()
      const hashed = new Set([ANA, BEN, CARL, DORA])
      expect(await entries()).toEqual(
        before.map((one) => (hashed.has(one.who) ? { ...one, who: hashedEmail(one.who, salt) } : one)),
      )
    })

    test('an entry that waited while its user was removed or renamed gets the hash, for a day', async () => {
      const entry = { at: NOW, kind: 'login', result: 'done', network: '192.0.2.0/24', detail: 'd', count: 2 }
      const [CARL, DORA] = ['carl@example.com', 'dora@example.com']
      const all = [ANA, BEN, CARL, DORA, '', 'hmac-sha256:5b1f']
      const salt = await store.auditSalt()
      let seen = 0
      let sequence = 0
      /** Writes an entry for each name, and returns how the entries are named, in that order. */
      const written = async (names: readonly string[]) => {
        sequence += 1
        await store.addAuditEntries({ writer: 'w', sequence, entries: names.map((who) => ({ ...entry, who })) })
        const found = await store.auditEntries({ from: null, to: null, kind: null, who: null }, seen, 99)
        seen = found.at(-1)?.id ?? seen
        return found.map(({ who }) => who)
      }
      await store.applyChanges([put(), put({ email: BEN }), put({ email: CARL })])
      expect(await written(all)).toEqual(all)
      await store.removeUsers([ANA, 'nobody@example.com', ANA])
      await store.applyChanges([{ type: 'removeUser', email: BEN }, put({ email: DORA, id: 'other' })])
      await store.renameUser(CARL, 'new@example.com')
      const hashed = [ANA, BEN, CARL].map((email) => hashedEmail(email, salt))
      expect(await written(all)).toEqual([...hashed, DORA, '', 'hmac-sha256:5b1f'])
      expect(await written([ANA, 'nobody@example.com', 'new@example.com', ANA])).toEqual([
        ...[hashed[0], hashedEmail('nobody@example.com', salt), 'new@example.com', hashed[0]],
      ])
      await hand('update removed_name set removed_at = removed_at - 86400001')
      expect(await written([ANA, DORA])).toEqual([ANA, DORA])
      await store.removeUsers([DORA])
      expect(await written([ANA, BEN, DORA])).toEqual([ANA, BEN, hashedEmail(DORA, salt)])
      // The names from before are gone.
      await hand('update removed_name set removed_at = removed_at + 86400001')
      expect(await written([ANA, BEN])).toEqual([ANA, BEN])
    })

    test('exports are pruned by age and number, for each project separately', async () => {
      await store.applyChanges([put(), put({ id: 'q', ref: 'q' })])
      for (const day of [1, 2, 3, 4]) await addExport(ANA, 'r', ['1'], at(day), `r${day}`)
      await addExport(ANA, 'q', ['1'], at(1), 'q1')
      const userId = (await store.userByEmail(ANA))?.id ?? 0
      const left = async () => {
        const [found = []] = await store.exportsOf([{ userId, ref: 'r', after: null, limit: null }])
        return found.map(({ digest }) => digest)
      }
      expect(await store.pruneExports({ userId, keep: 1, before: at(2).instant, after: '' })).toEqual({
        exports: 1,
        byteLength: 10,
        next: null,
      })
      expect(await left()).toEqual(['r4', 'r3', 'r2'])
      expect(await store.pruneExports({ userId, keep: 3, before: null, after: '' })).toMatchObject({ exports: 0 })
      expect(await store.pruneExports({ userId, keep: 1, before: null, after: '' })).toMatchObject({ exports: 2 })
      expect(await left()).toEqual(['r4'])
      expect(await newestExport(ANA, 'q')).toBe('q1')
    })

    test('exports with many elements are pruned a few at a time', async () => {
      await store.applyChanges([put()])
      const elements = (length: number) => Array.from({ length }, (_, n) => `${n}`)
      for (const [index, length] of [2_001, 1_000, 1_000, 1_000, 1].entries())
        await addExport(ANA, 'r', elements(length), at(index + 1), `r${index}`)
      const userId = (await store.userByEmail(ANA))?.id ?? 0
      const rule = { userId, keep: 1, before: null, after: '' }
      // At least one export is pruned, however many elements it has.
      expect(await store.pruneExports(rule)).toEqual({ exports: 1, byteLength: 10, next: '' })
      expect(await store.pruneExports(rule)).toEqual({ exports: 2, byteLength: 20, next: '' })
      expect(await store.pruneExports(rule)).toEqual({ exports: 1, byteLength: 10, next: null })
    })

    test('exactly those exports are pruned that the rule selects, also among exports of one instant', async () => {
      const days = [1, 1, 2, 3]
      const refs = ['a', 'b']
      for (const [email, keep, before] of [0, 1, 3].flatMap((keep) =>
        [null, at(2).instant, at(3).instant].map(
          (before, index) => [`u${keep}${index}@example.com`, keep, before] as const,
        ),
      )) {
        for (const [index, ref] of refs.entries())
          for (const [n, day] of days.slice(index).entries()) await addExport(email, ref, ['1'], at(day), `${ref}${n}`)
        const userId = (await store.userByEmail(email))?.id ?? 0
        const questions = refs.map((ref) => ({ userId, ref, after: null, limit: null }))
        const stored = await store.exportsOf(questions)
        const selected = (index: number, instant: string) => index >= keep && (before === null || instant < before)
        const staying = stored.map((found) => found?.filter(({ instant }, index) => !selected(index, instant)))
        const count = (exports: typeof stored | typeof staying) => exports.flatMap((found) => found ?? []).length
        const exports = count(stored) - count(staying)
        const rule = `keep ${keep}, before ${before}`
        expect(await store.pruneExports({ userId, keep, before, after: '' }), rule).toMatchObject({
          exports,
          next: null,
        })
        expect(await store.exportsOf(questions), rule).toEqual(staying)
      }
    })

    describe('a replacement', () => {
      test('is invisible before it is swapped in, and then is all that the user has, in its order', async () => {
        await store.applyChanges([
          put({ id: 'gone', ref: 'gone' }),
          put({ id: 'b', ref: 'b', text: '"b"' }),
          put({ id: 'a', ref: 'a', text: '"old"' }),
          put({ email: BEN, text: '"ben"' }),
        ])
        await addExport(ANA, 'gone', ['1'])
        await addExport(ANA, 'b', ['1'], at(1), 'kept')
        const before = [await dump(), await stateVersion(ANA)]
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        await store.stageReplacement(
          replacement,
          [
            document('a'),
            document('n'),
            document('b'),
            ...exportSteps(ANA, 'b', ['1'], at(1), 'kept'),
            ...exportSteps(ANA, 'a', ['7', '8', '9'], at(2), 'new'),
          ],
          NOW,
        )
        expect([await dump(), await stateVersion(ANA)]).toEqual(before)
        expect(await swapAll(replacement)).toEqual([{ email: ANA, added: 2, replaced: 2, unchanged: 1, removed: 2 }])
        expect(await dump()).toBe(
          `{"kind":"project","email":"${ANA}","data":"a"}\n` +
            `{"kind":"export","email":"${ANA}","r":"a","createdAt":"${at(2).createdAt}","data":[7,8,9]}\n` +
            `{"kind":"project","email":"${ANA}","data":"n"}\n` +
            `{"kind":"project","email":"${ANA}","data":"b"}\n` +
            `{"kind":"export","email":"${ANA}","r":"b","createdAt":"${at(1).createdAt}","data":[1]}\n` +
            `{"kind":"project","email":"${BEN}","data":"ben"}\n`,
        )
        expect(await stateVersion(ANA)).not.toBe(before[1])
      })

      test('changes nothing if it brings what is stored already', async () => {
        await store.applyChanges([put({ id: 'a', ref: 'a', text: '"a"' }), put({ id: 'b', ref: 'b', text: '"b"' })])
        await addExport(ANA, 'a', ['1'])
        const [before, rows] = [await stateVersion(ANA), await countRows()]
        const steps = [document('a'), document('b'), ...exportSteps(ANA, 'a', ['1'])]
        expect(await replace(steps)).toEqual([{ email: ANA, added: 0, replaced: 0, unchanged: 3, removed: 0 }])
        expect(await stateVersion(ANA)).toBe(before)
        expect(await countRows()).toBe(rows + 1)
      })

      test('swaps as many users at a time as the limit of documents allows, and at least one', async () => {
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        const emails = [ANA, ANA, BEN, 'carl@example.com', 'carl@example.com', 'carl@example.com', 'carl@example.com']
        const steps = emails.map((email, index) => document(`${index}`, { email }))
        await store.stageReplacement(replacement, steps, NOW)
        const swap = async (after: string) => {
          const swapped = await store.swapReplacement({
            replacement,
            after,
            maxDocuments: 3,
            isDryRun: false,
            now: NOW,
          })
          return swapped.map(({ email, added }) => [email, added])
        }
        expect(await swap('')).toEqual([
          [ANA, 2],
          [BEN, 1],
        ])
        expect(await swap(BEN)).toEqual([['carl@example.com', 4]])
        expect(await swap('carl@example.com')).toEqual([])
      })

      test('keeps the exports of projects that stay if it is told to, and only those', async () => {
        await store.applyChanges(['a', 'b', 'c'].map((id) => put({ id, ref: id, text: `"${id}"` })))
        for (const ref of ['a', 'b', 'c', 'nobody']) await addExport(ANA, ref, ['1'])
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        const steps = [document('b'), document('a'), ...exportSteps(ANA, 'a', ['1'], at(4), 'd4')]
        await store.stageReplacement(replacement, steps, NOW)
        expect(await swapAll(replacement, false, true)).toEqual([
          { email: ANA, added: 1, replaced: 2, unchanged: 0, removed: 3 },
        ])
        const newest = await Promise.all(['a', 'b', 'c', 'nobody'].map((ref) => newestExport(ANA, ref)))
        expect(newest).toEqual(['d4', 'd1', null, null])
        const { id: userId = 0 } = (await store.userByEmail(ANA)) ?? {}
        expect(await store.exportCounts([{ userId, ref: 'a' }])).toEqual([2])
      })

      test.each([
        [false, 4],
        [true, 3],
      ])(
        'takes from each user what only another one keeps, also if exports of projects stay: %s',
        async (keepsExports, removed) => {
          await store.applyChanges(['x', 'y'].map((id) => put({ id, ref: id, text: '"old"' })))
          // Has the reference of a project that Ana keeps, and goes.
          await store.applyChanges([put({ email: BEN, id: 'w', ref: 'x' })])
          // The last one waits for a project.
          for (const ref of ['x', 'y', 'z']) await addExport(ANA, ref, ['0'])
          const replacement = randomUUID()
          await store.beginReplacement(replacement, NOW)
          const steps = [
            document('x'),
            ...exportSteps(ANA, 'x', ['1'], at(2), 'new'),
            ...['x', 'y', 'z'].map((id) => document(id, { email: BEN, text: '"of Ben"' })),
            // Equal to the one that Ana has.
            ...exportSteps(BEN, 'y', ['2']),
          ]
          await store.stageReplacement(replacement, steps, NOW)
          expect(await swapAll(replacement, false, keepsExports)).toEqual([
            { email: ANA, added: 1, replaced: 1, unchanged: 0, removed },
            { email: BEN, added: 4, replaced: 0, unchanged: 0, removed: 1 },
          ])
          const project = (email: string, data: string) => `{"kind":"project","email":"${email}","data":"${data}"}\n`
          const exportOf = (email: string, r: string, day: number, element: number) =>
            `{"kind":"export","email":"${email}","r":"${r}","createdAt":"${at(day).createdAt}","data":[${element}]}\n`
          const ofBen = project(BEN, 'of Ben')
          expect(await dump()).toBe(
            [
              project(ANA, 'x'),
              keepsExports ? exportOf(ANA, 'x', 1, 0) : '',
              exportOf(ANA, 'x', 2, 1),
              ...[ofBen, ofBen, exportOf(BEN, 'y', 1, 2), ofBen],
            ].join(''),
          )
        },
      )

      test('lets projects exchange references and positions', async () => {
        await store.applyChanges(['a', 'b', 'c'].map((id) => put({ id, ref: id, text: `"${id}"` })))
        await addExport(ANA, 'a', ['1'])
        await replace([
          document('c', { ref: 'a' }),
          document('a', { ref: 'b' }),
          document('b', { ref: 'c' }),
          document('t', { kind: 'template', ref: null }),
          ...exportSteps(ANA, 'a', ['1']),
        ])
        const user = await store.userByEmail(ANA)
        const [found = []] = await store.documentsOf([
          { userId: user?.id ?? 0, kind: 'project', after: 0, limit: null },
        ])
        expect(found.map(({ id, ref, position }) => [id, ref, position])).toEqual([
          ['c', 'a', 3],
          ['a', 'b', 4],
          ['b', 'c', 5],
        ])
        const [template] = await store.documentsById([{ userId: user?.id ?? 0, kind: 'template', id: 't' }])
        expect(template?.position).toBe(1)
        expect(await newestExport(ANA, 'a')).toBe('d1')
      })

      test('keeps the positions of documents that stay in order, so that a client that pages meanwhile misses none', async () => {
        const positions = async () => {
          const user = await store.userByEmail(ANA)
          const [found = []] = await store.documentsOf([
            { userId: user?.id ?? 0, kind: 'project', after: 0, limit: null },
          ])
          return found.map(({ id, position }) => `${id}${position}`).join(' ')
        }
        await store.applyChanges(['a', 'b', 'c', 'd', 'e'].map((id) => put({ id, ref: id, text: `"${id}"` })))
        const steps = [
          // What is removed leaves a gap, and what is new comes behind.
          ['c d e', 'c3 d4 e5'],
          ['c e f', 'c3 e5 f6'],
          // What is new in between takes a gap, or moves only what it must.
          ['g c h e f', 'g1 c3 h4 e5 f6'],
          ['g c h i e f j', 'g1 c3 h4 i5 e6 f7 j8'],
          // What overtakes others is behind its old place.
          ['j g c', 'j8 g9 c10'],
        ] as const
        for (const [ids, placed] of steps) {
          await replace(ids.split(' ').map((id) => document(id)))
          expect(await positions()).toBe(placed)
        }
      })

      test('creates users, and may leave them with nothing', async () => {
        await store.applyChanges([put({ email: BEN })])
        await addExport(BEN, 'r', ['1'])
        const id = (await store.userByEmail(BEN))?.id
        const swapped = await replace([
          { type: 'stageUser', email: BEN },
          document('a'),
          ...exportSteps(ANA, 'a', ['1', '2']),
        ])
        expect(swapped).toEqual([
          { email: ANA, added: 2, replaced: 0, unchanged: 0, removed: 0 },
          { email: BEN, added: 0, replaced: 0, unchanged: 1, removed: 2 },
        ])
        expect((await store.userByEmail(BEN))?.id).toBe(id)
        expect(await newestExport(ANA, 'a')).toBe('d1')
        // Two users, a document, an export with its elements, nothing staged.
        expect(await countRows()).toBe(2 + 1 + 1 + 2)
      })

      test('keeps the position of a document that occurs twice, and one of two equal exports', async () => {
        const swapped = await replace([
          document('a', { text: '1' }),
          document('b'),
          document('a', { text: '2' }),
          document('c'),
          ...exportSteps(ANA, 'a', ['1']),
          ...exportSteps(ANA, 'a', ['1']),
        ])
        expect(swapped).toEqual([{ email: ANA, added: 4, replaced: 0, unchanged: 0, removed: 0 }])
        expect(await dump()).toBe(
          `{"kind":"project","email":"${ANA}","data":2}\n` +
            `{"kind":"export","email":"${ANA}","r":"a","createdAt":"${MADE.createdAt}","data":[1]}\n` +
            `{"kind":"project","email":"${ANA}","data":"b"}\n{"kind":"project","email":"${ANA}","data":"c"}\n`,
        )
      })

      test('counts a document at another place as replaced, and one with new neighbours as unchanged', async () => {
        await replace(['a', 'b', 'c', 'd'].map((id) => document(id)))
        const counts = async (...ids: string[]) => {
          const steps = ids.map((id) => document(id))
          const replacement = randomUUID()
          await store.beginReplacement(replacement, NOW)
          await store.stageReplacement(replacement, steps, NOW)
          const dry = await swapAll(replacement, true)
          const [swapped] = await replace(steps)
          expect(dry).toEqual([swapped])
          return swapped && [swapped.added, swapped.replaced, swapped.unchanged, swapped.removed]
        }
        expect(await counts('b', 'a', 'c', 'd')).toEqual([0, 2, 2, 0])
        expect(await counts('b', 'a', 'c', 'd')).toEqual([0, 0, 4, 0])
        expect(await counts('new', 'b', 'c', 'other', 'd')).toEqual([2, 0, 3, 1])
        expect(await counts('d', 'new', 'more')).toEqual([1, 2, 0, 3])
      })

      test('counts a user without data as added, then as unchanged, like an import of the record', async () => {
        const record = { type: 'stageUser', email: BEN } as const
        expect(await replace([record])).toEqual([{ email: BEN, added: 1, replaced: 0, unchanged: 0, removed: 0 }])
        expect(await replace([record])).toEqual([{ email: BEN, added: 0, replaced: 0, unchanged: 1, removed: 0 }])
        expect(await store.applyChanges([{ type: 'addUser', email: BEN }])).toEqual(['unchanged'])
        expect(await store.applyChanges([{ type: 'addUser', email: ANA }])).toEqual(['added'])
      })

      test('says in a dry run what it would do, and does not do it', async () => {
        await store.applyChanges([put({ id: 'gone', ref: 'gone' })])
        const [before, rows] = [await dump(), await countRows()]
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        await store.stageReplacement(replacement, [document('a'), document('b', { email: BEN })], NOW)
        expect(await swapAll(replacement, true)).toEqual([
          { email: ANA, added: 1, replaced: 0, unchanged: 0, removed: 1 },
          { email: BEN, added: 1, replaced: 0, unchanged: 0, removed: 0 },
        ])
        expect([await dump(), await countRows()]).toEqual([before, rows])
      })

      /** Stages two users, with an export each. */
      async function stageTwo(): Promise<string> {
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        await store.stageReplacement(
          replacement,
          [ANA, BEN].flatMap((email) => [document('a', { email }), ...exportSteps(email, 'a', ['1'])]),
          NOW,
        )
        return replacement
      }

      async function expectNoStep(replacement: string): Promise<void> {
        const asked = { replacement, after: '', maxDocuments: 1, isDryRun: false, now: NOW }
        await expect(async () => store.swapReplacement(asked)).rejects.toThrow('is gone')
        await expect(async () => store.stageReplacement(replacement, [document('b')], NOW)).rejects.toThrow('is gone')
      }

      test('handles users who were created while it was staged', async () => {
        const replacement = await stageTwo()
        await store.applyChanges([put({ email: BEN, id: 'gone' })])
        await swapAll(replacement)
        for (const email of [ANA, BEN]) expect(await newestExport(email, 'a'), email).toBe('d1')
        expect(await dump()).not.toContain('gone')
        expect(await countRows()).toBe(2 * (1 + 1 + 1 + 1))
      })

      test('keeps the exports of a user who was created while it was staged, if it is told to', async () => {
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        const steps = [document('a'), document('b'), ...exportSteps(ANA, 'b', ['2', '3'], at(2), 'd2')]
        await store.stageReplacement(replacement, steps, NOW)
        await store.applyChanges([put({ id: 'a', ref: 'a', text: '"a"' }), put({ id: 'gone', ref: 'gone' })])
        for (const ref of ['a', 'gone']) await addExport(ANA, ref, ['1'])
        const id = (await store.userByEmail(ANA))?.id
        expect(await swapAll(replacement, false, true)).toEqual([
          { email: ANA, added: 2, replaced: 0, unchanged: 1, removed: 2 },
        ])
        expect(await dump()).toBe(
          `{"kind":"project","email":"${ANA}","data":"a"}\n` +
            `{"kind":"export","email":"${ANA}","r":"a","createdAt":"${MADE.createdAt}","data":[1]}\n` +
            `{"kind":"project","email":"${ANA}","data":"b"}\n` +
            `{"kind":"export","email":"${ANA}","r":"b","createdAt":"${at(2).createdAt}","data":[2,3]}\n`,
        )
        expect((await store.userByEmail(ANA))?.id).toBe(id)
        // The user, two documents, two exports with their elements, nothing staged.
        expect(await countRows()).toBe(1 + 2 + 2 + 3)
      })

      test('loses what it has staged for a user who is removed or renamed, and ends', async () => {
        const removals = {
          'a removal': () => store.removeUsers([ANA]),
          'a removal record': () => store.applyChanges([{ type: 'removeUser', email: ANA }]),
          'another email': () => store.renameUser(ANA, 'carl@example.com'),
        }
        for (const [what, remove] of Object.entries(removals)) {
          await store.applyChanges([put()])
          const rows = await countRows()
          const replacement = await stageTwo()
          const staged = (await countRows()) - rows
          await remove()
          const isKept = what === 'another email'
          // Staged are a user, a document, an export and an element for each of the two, and the replacement.
          expect(await countRows(), what).toBe(rows - (isKept ? 0 : 2) + staged - 4)
          await expectNoStep(replacement)
          await dropStale()
          expect(await countRows(), what).toBe(rows - (isKept ? 0 : 2))
          await store.removeUsers(['carl@example.com'])
        }
      })

      test('counts as a removal of nothing if it died before its users were created', async () => {
        const none = { projects: 0, templates: 0, uiLibraries: 0, exports: 0, exportBytes: 0, sessions: 0 }
        await stageTwo()
        expect(await store.removeUsers([ANA, ANA])).toEqual([{ email: ANA, ...none }, null])
        expect(await store.applyChanges([{ type: 'removeUser', email: BEN }])).toEqual(['removed'])
        await dropStale()
        expect(await countRows()).toBe(0)
      })

      test('leaves nothing of a removed user if it died after its swap', async () => {
        await store.applyChanges([put({ id: 'a', ref: 'a' })])
        await addExport(ANA, 'a', ['1'])
        const replacement = await stageTwo()
        const asked = { replacement, maxDocuments: 10, isDryRun: false, now: NOW }
        await store.swapReplacement({ ...asked, after: '' })
        await store.removeUsers([ANA, BEN])
        await store.endReplacement(replacement)
        // Only the replacement itself may be left.
        expect(await countRows()).toBeLessThanOrEqual(1)
      })

      test('can take no step after a pause in which others have begun to drop it', async () => {
        const replacement = await stageTwo()
        await store.dropStaleStages(NOW + 1)
        await expectNoStep(replacement)
      })

      test('can take no step once it is gone', async () => {
        const replacement = randomUUID()
        await expect(async () => store.stageReplacement(replacement, [document('a')], NOW)).rejects.toThrow('is gone')
        await store.beginReplacement(replacement, NOW)
        await store.stageReplacement(
          replacement,
          [document('a'), { type: 'stageUser', email: BEN }, ...exportSteps(ANA, 'a', ['1'])],
          NOW,
        )
        while (!(await store.dropStaleStages(NOW)));
        expect(await countRows()).toBeGreaterThan(0)
        const ended = randomUUID()
        await store.beginReplacement(ended, NOW)
        await store.endReplacement(ended)
        while (!(await store.dropStaleStages(NOW)));
        await expect(async () => store.stageReplacement(ended, [document('a')], NOW)).rejects.toThrow('is gone')
        await dropStale()
        await expect(async () =>
          store.swapReplacement({ replacement, after: '', maxDocuments: 1, isDryRun: false, now: NOW }),
        ).rejects.toThrow('is gone')
        expect(await countRows()).toBe(0)
      })
    })

    test('space is reclaimed until there is none left to reclaim', async () => {
      await store.applyChanges(
        Array.from({ length: 300 }, (_, n) => put({ id: `${n}`, ref: `${n}`, text: `"${'x'.repeat(20_000)}"` })),
      )
      await store.removeUsers([ANA])
      expect(await store.flushRemovals()).toBe('flushed')
      const first = await store.reclaimSpace()
      let last = first
      while (last.reclaimableBytes > 0) last = await store.reclaimSpace()
      expect(last.byteLength).toBeLessThanOrEqual(first.byteLength)
      expect(last.byteLength).toBeLessThan(3_000_000)
      expect(last.byteLength).toBeGreaterThan(8_192)
    })

    // This is after the test above, because its rows would count in the database that tests share on PostgreSQL.
    test('exports without elements are also pruned a few at a time', async () => {
      const ofDay = (index: number) => ({
        createdAt: MADE.createdAt,
        instant: `2026-01-01T00:00:00.${String(index).padStart(9, '0')}Z`,
      })
      const steps = (ref: string, count: number) =>
        Array.from({ length: count }, (_, index) => {
          const [stage, , seal] = exportSteps(ANA, ref, [], ofDay(index), `${ref} ${index}`)
          return [stage, seal]
        }).flat()
      const changes = [...steps('r', 503), ...steps('q', 2), ...steps('o', 1)]
      await store.applyChanges(changes.map((step) => ({ ...step, now: NOW })))
      const userId = (await store.userByEmail(ANA))?.id ?? 0
      const counts: number[] = []
      for (let after: string | null = ''; after !== null; ) {
        const pruned: Pruned = await store.pruneExports({ userId, keep: 1, before: null, after })
        expect(pruned.byteLength).toBe(pruned.exports * 10)
        counts.push(pruned.exports)
        after = pruned.next
      }
      expect(counts).toEqual([500, 3])
      const left = await store.exportsOf(['o', 'q', 'r'].map((ref) => ({ userId, ref, after: null, limit: null })))
      expect(left.map((found) => found?.map(({ digest }) => digest))).toEqual([['o 0'], ['q 1'], ['r 502']])
    })

    test('exports of many projects are pruned a few projects at a time, even if there are none to remove', async () => {
      const oldOf = new Set([3, 150, 200].map((index) => `r${index}`))
      const steps = Array.from({ length: 201 }, (_, index) => `r${index}`).flatMap((ref) =>
        [1, ...(oldOf.has(ref) ? [2] : [])].flatMap((day) => exportSteps(ANA, ref, ['1'], at(day), `${ref} ${day}`)),
      )
      await store.applyChanges(steps.map((step) => ({ ...step, now: NOW })))
      const userId = (await store.userByEmail(ANA))?.id ?? 0
      const prune = async (keep: number) => {
        const calls: Pruned[] = []
        for (let after: string | null = ''; after !== null; ) {
          const pruned: Pruned = await store.pruneExports({ userId, keep, before: null, after })
          calls.push(pruned)
          after = pruned.next
        }
        return calls
      }
      expect((await prune(2)).map(({ exports }) => exports)).toEqual([0, 0])
      const removed = await prune(1)
      expect(removed.reduce((sum, { exports }) => sum + exports, 0)).toBe(3)
      expect(removed).toHaveLength(2)
      expect((await prune(0)).reduce((sum, { exports }) => sum + exports, 0)).toBe(201)
    })
  })
}
