// The contract suite of projects whose reference changes, on each adapter: their exports follow them.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Change, DocumentKey, Store } from '../../src/store/contract.ts'
import type { ReplacementStep, Swapped } from '../../src/store/workspace-edits.ts'
import type { EditsSubject } from './edits.ts'
import { ANA, BEN, NOW, newSession, put } from './values.ts'

type Held = Readonly<Record<string, readonly string[]>>

const at = (day: number) => ({
  createdAt: `2026-01-0${day}T00:00:00Z`,
  instant: `2026-01-0${day}T00:00:00.000000000Z`,
})

export function describeChangedReferences(name: string, open: () => Promise<EditsSubject>): void {
  describe(`a project whose reference changes, on ${name}`, () => {
    let store: EditsSubject['store']
    let countRows: EditsSubject['countRows']

    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      countRows = opened.countRows
      return () => store[Symbol.asyncDispose]()
    })

    const project = (id: string, ref: string): Change => put({ id, ref, text: `{"id":"${id}","ref":"${ref}"}` })

    /** An export of one element, which says whose it is; the digest is the same text. */
    function exportSteps(ref: string, day: number, digest: string, email = ANA) {
      const stage = randomUUID()
      return [
        { type: 'stageExport', stage, email, ref, ...at(day), now: NOW },
        { type: 'stageElements', stage, position: 1, texts: [`"${digest}"`], now: NOW },
        { type: 'sealExport', stage, digest, byteLength: 10, elementCount: 1 },
      ] as const
    }

    async function addExports(...exports: readonly (readonly [ref: string, day: number, digest: string])[]) {
      await store.applyChanges(exports.flatMap((one) => exportSteps(...one)))
    }

    async function idOf(email: string): Promise<number> {
      return (await store.userByEmail(email))?.id ?? Number.NaN
    }

    /**
     * The texts that are read under each reference, newest first. They come from the elements, so an export without
     * elements does not count.
     */
    async function held(refs: readonly string[], reads: Store = store, email = ANA): Promise<Held> {
      const userId = await idOf(email)
      const pages = await reads.exportsOf(refs.map((ref) => ({ userId, ref, after: null, limit: null })))
      const texts = await Promise.all(
        pages.map(async (page, index) => {
          expect(page.map(({ ref }) => ref)).toEqual(page.map(() => refs[index]))
          const lists = page.map(({ id: exportId }) => ({ userId, exportId, after: 0, limit: null }))
          return (await reads.elementsOf(lists)).map((list) => list.map(({ text }) => JSON.parse(text)).join())
        }),
      )
      return Object.fromEntries(refs.map((ref, index) => [ref, texts[index] ?? []]))
    }

    async function orphans(): Promise<readonly string[]> {
      return store.exportRefsWithoutProject(await idOf(ANA))
    }

    async function stateVersion(email: string): Promise<string | undefined> {
      const session = newSession({ email })
      await store.addSessions([session])
      return (await store.liveSessions([session.id], NOW))[0]?.stateVersion
    }

    test('takes its exports along, and leaves those of other projects and users alone', async () => {
      await store.applyChanges([project('p', 'r'), project('q', 'other'), put({ email: BEN, id: 'p', ref: 'r' })])
      await addExports(['r', 1, 'p1'], ['r', 2, 'p2'], ['other', 1, 'q1'])
      await store.applyChanges(exportSteps('r', 1, 'ben', BEN))
      const [before, ofBen] = [await stateVersion(ANA), await stateVersion(BEN)]
      const rows = await countRows()
      expect(await store.applyChanges([project('p', 'new')])).toEqual(['replaced'])
      expect(await held(['r', 'new', 'other'])).toEqual({ r: [], new: ['p2', 'p1'], other: ['q1'] })
      expect(await held(['r'], store, BEN)).toEqual({ r: ['ben'] })
      expect(await orphans()).toEqual([])
      expect(await countRows()).toBe(rows)
      expect([(await stateVersion(ANA)) === before, await stateVersion(BEN)]).toEqual([false, ofBen])
      const userId = await idOf(ANA)
      const latest = await store.latestExports(['r', 'new'].map((ref) => ({ userId, ref })))
      expect(latest.map((one) => one?.digest)).toEqual([undefined, 'p2'])
      const key = { userId, instant: at(2).instant, digest: 'p2' }
      expect(
        (await store.exportsByKey(['r', 'new'].map((ref) => ({ ...key, ref })))).map((one) => one?.ref ?? null),
      ).toEqual([null, 'new'])
    })

    test('leaves none of its exports to a project that takes its reference', async () => {
      await store.applyChanges([project('p', 'r')])
      await addExports(['r', 1, 'p1'])
      await store.applyChanges([project('p', 'new'), project('q', 'r')])
      expect(await held(['r', 'new'])).toEqual({ r: [], new: ['p1'] })
      await store.applyChanges([{ type: 'removeDocument', email: ANA, kind: 'project', id: 'p' } satisfies Change])
      await store.applyChanges([project('s', 'new')])
      expect(await held(['r', 'new'])).toEqual({ r: [], new: [] })
    })

    test('keeps one of two equal exports if exports without a project waited under its new reference', async () => {
      await store.applyChanges([project('p', 'r')])
      await addExports(['r', 1, 'same'], ['r', 2, 'p2'], ['new', 1, 'same'], ['new', 3, 'waited'], ['new', 2, 'other'])
      const rows = await countRows()
      await store.applyChanges([project('p', 'new')])
      const { r, new: found } = await held(['r', 'new'])
      expect([r, found?.toSorted()]).toEqual([[], ['other', 'p2', 'same', 'waited']])
      expect(found?.at(0)).toBe('waited')
      // The other export was removed with its element.
      expect(await countRows()).toBe(rows - 2)
    })

    test('keeps its exports if the new reference is taken', async () => {
      await store.applyChanges([project('p', 'r'), project('q', 'other')])
      await addExports(['r', 1, 'p1'], ['other', 1, 'q1'])
      expect(await store.applyChanges([project('p', 'other')])).toEqual(['refTaken'])
      expect(await held(['r', 'other'])).toEqual({ r: ['p1'], other: ['q1'] })
    })

    test('keeps its exports when only its text changes, and a template with the same id has none', async () => {
      await store.applyChanges([project('p', 'r'), put({ kind: 'template', id: 'p', ref: null })])
      await addExports(['r', 1, 'p1'])
      await store.applyChanges([put({ id: 'p', ref: 'r', text: '1' })])
      await store.applyChanges([put({ kind: 'template', id: 'p', ref: null, text: '2' })])
      expect(await held(['r'])).toEqual({ r: ['p1'] })
    })

    test('changes its reference several times in one list of changes, and keeps its own exports', async () => {
      await store.applyChanges([project('a', 'r1'), project('b', 'r2'), project('c', 'r3')])
      await addExports(['r1', 1, 'same'], ['r2', 1, 'same'], ['r3', 1, 'c1'], ['r1', 2, 'a2'])
      const outcomes = await store.applyChanges([
        project('c', 'r4'),
        project('b', 'r3'),
        project('a', 'r2'),
        project('d', 'r1'),
        project('c', 'r5'),
        project('a', 'r6'),
      ])
      expect(outcomes).toEqual(['replaced', 'replaced', 'replaced', 'added', 'replaced', 'replaced'])
      expect(await held(['r1', 'r2', 'r3', 'r4', 'r5', 'r6'])).toEqual({
        r1: [],
        r2: [],
        r3: ['same'],
        r4: [],
        r5: ['c1'],
        r6: ['a2', 'same'],
      })
    })

    test('takes along what was imported before it in the same list, and not what comes after', async () => {
      await store.applyChanges([project('p', 'r')])
      const outcomes = await store.applyChanges([
        ...exportSteps('r', 1, 'before'),
        project('p', 'new'),
        ...exportSteps('new', 1, 'before'),
        ...exportSteps('r', 2, 'after'),
        project('q', 'r'),
        ...exportSteps('r', 3, 'of q'),
        project('n', 'n1'),
        ...exportSteps('n1', 1, 'of n'),
        project('n', 'n2'),
        ...exportSteps('n1', 2, 'of nobody'),
      ])
      expect(outcomes.filter((outcome) => outcome !== 'staged')).toEqual([
        ...['added', 'replaced', 'unchanged', 'added', 'added', 'added'],
        ...['added', 'added', 'replaced', 'added'],
      ])
      expect(await held(['r', 'new', 'n1', 'n2'])).toEqual({
        r: ['of q', 'after'],
        new: ['before'],
        n1: ['of nobody'],
        n2: ['of n'],
      })
    })

    test('takes along exports that waited under a reference that it had only in between', async () => {
      await addExports(['r1', 1, 'waited'])
      await store.applyChanges([project('p', 'r1'), project('p', 'r2')])
      expect(await held(['r1', 'r2'])).toEqual({ r1: [], r2: ['waited'] })
    })

    test('takes along an export that is still being imported', async () => {
      await store.applyChanges([project('p', 'r')])
      const [stage, fill, seal] = exportSteps('r', 1, 'p1')
      await store.applyChanges([stage, fill])
      await store.applyChanges([project('p', 'new')])
      expect(await store.applyChanges([seal])).toEqual(['added'])
      expect(await held(['r', 'new'])).toEqual({ r: [], new: ['p1'] })
    })

    test('takes its exports along in one step: a snapshot sees all of it or nothing', async () => {
      await store.applyChanges([project('p', 'r')])
      await addExports(['r', 1, 'p1'])
      await using snapshot = await store.openSnapshot()
      const [before] = await snapshot.projectsByRef([{ userId: await idOf(ANA), ref: 'r' }])
      expect(before?.id).toBe('p')
      await store.applyChanges([project('p', 'new')])
      const userId = await idOf(ANA)
      const key: DocumentKey = { userId, kind: 'project', id: 'p' }
      expect((await snapshot.documentsById([key])).map((one) => one?.ref)).toEqual(['r'])
      expect((await snapshot.latestExports([{ userId, ref: 'r' }])).map((one) => one?.digest)).toEqual(['p1'])
      expect(await snapshot.latestExports([{ userId, ref: 'new' }])).toEqual([undefined])
    })

    describe('by a replacement', () => {
      const document = (id: string, ref: string): ReplacementStep => ({
        ...{ type: 'stageDocument', email: ANA, kind: 'project', id, ref },
        text: `{"id":"${id}","ref":"${ref}"}`,
      })

      /** Checks that a dry run returns the same as the swap. */
      async function replace(
        steps: readonly ReplacementStep[],
        keepsExports: boolean,
      ): Promise<Omit<Swapped, 'email'>> {
        const replacement = randomUUID()
        await store.beginReplacement(replacement, NOW)
        await store.stageReplacement(replacement, steps, NOW)
        const question = { replacement, after: '', maxDocuments: 99, keepsExports, now: NOW }
        const dry = await store.swapReplacement({ ...question, isDryRun: true })
        const [swapped] = await store.swapReplacement({ ...question, isDryRun: false })
        expect(dry).toEqual([swapped])
        await store.endReplacement(replacement)
        while (!(await store.dropStaleStages(NOW + 1_000)));
        const { added = 0, replaced = 0, unchanged = 0, removed = 0 } = swapped ?? {}
        return { added, replaced, unchanged, removed }
      }

      async function fillThree(): Promise<void> {
        await store.applyChanges([project('a', 'r1'), project('b', 'r2'), project('c', 'r3')])
        await addExports(['r1', 1, 'a1'], ['r2', 2, 'b2'], ['r3', 3, 'c3'])
      }

      test('takes its exports along if they are kept, even if references change in a circle', async () => {
        await fillThree()
        const steps = [document('a', 'r2'), document('b', 'r3'), document('c', 'r1'), ...exportSteps('r1', 4, 'c4')]
        expect(await replace(steps, true)).toEqual({ added: 1, replaced: 3, unchanged: 0, removed: 0 })
        expect(await held(['r1', 'r2', 'r3'])).toEqual({ r1: ['c4', 'c3'], r2: ['a1'], r3: ['b2'] })
        expect(await orphans()).toEqual([])
      })

      test('leaves the exports of a removed project to nobody', async () => {
        await fillThree()
        const steps = [document('b', 'r1'), document('n', 'r2'), document('c', 'free')]
        expect(await replace(steps, true)).toEqual({ added: 1, replaced: 2, unchanged: 0, removed: 2 })
        expect(await held(['r1', 'r2', 'r3', 'free'])).toEqual({ r1: ['b2'], r2: [], r3: [], free: ['c3'] })
      })

      test('finds its exports unchanged under the new reference, and loses those that are not in the input', async () => {
        await fillThree()
        const rows = await countRows()
        const steps = [
          ...[document('a', 'r2'), document('b', 'r1'), document('c', 'r3')],
          ...exportSteps('r2', 1, 'a1'),
          ...exportSteps('r1', 5, 'new'),
        ]
        expect(await replace(steps, false)).toEqual({ added: 1, replaced: 2, unchanged: 2, removed: 2 })
        expect(await held(['r1', 'r2', 'r3'])).toEqual({ r1: ['new'], r2: ['a1'], r3: [] })
        expect(await countRows()).toBe(rows - 2)
      })

      test('leaves exports under the reference that the input names', async () => {
        const steps = [document('a', 'r1'), ...exportSteps('r1', 1, 'a1'), document('a', 'r2')]
        expect(await replace(steps, false)).toEqual({ added: 2, replaced: 0, unchanged: 0, removed: 0 })
        expect(await held(['r1', 'r2'])).toEqual({ r1: ['a1'], r2: [] })
      })
    })
  })
}
