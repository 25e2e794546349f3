// The contract suite of pages: every page of a short list, and long lists in parts.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { type DocumentList, MAX_ITEMS_WITHIN, type OfUser, type PageWithin } from '../../src/store/reads-contract.ts'
import { ANA, BEN, NOW, newSession, put } from './values.ts'

const LIMITS = [null, 0, 1, 2, 9]

interface Asked<P> {
  readonly after: P | null
  readonly before: P | undefined
  readonly limit: number | null
  readonly fromEnd: boolean
}

/** Every page of a list with items at these places, in the order of the list. */
function everyPage<P>(places: readonly P[]): readonly Asked<P>[] {
  return [null, ...places].flatMap((after) =>
    [undefined, ...places].flatMap((before) =>
      LIMITS.flatMap((limit) => [true, false].map((fromEnd) => ({ after, before, limit, fromEnd }))),
    ),
  )
}

/** The items of the page, by index. */
function expectedPage<P>(places: readonly P[], { after, before, limit, fromEnd }: Asked<P>): readonly number[] {
  const start = after === null ? 0 : places.indexOf(after) + 1
  const end = before === undefined ? places.length : places.indexOf(before)
  const between = places.map((_, index) => index).slice(start, Math.max(start, end))
  if (limit === null) return between
  return fromEnd ? between.slice(Math.max(0, between.length - limit)) : between.slice(0, limit)
}

export function describePages(name: string, open: () => Promise<{ store: Store }>): void {
  describe(`the store contract of pages on ${name}`, () => {
    let store: Store

    beforeEach(async () => {
      store = (await open()).store
      return () => store[Symbol.asyncDispose]()
    })

    /**
     * A list of five documents of Ana; before, between and behind them are documents of another user and another kind.
     */
    async function fiveDocuments(texts = ['1', '2', '3', '4', '5']): Promise<DocumentList> {
      await store.applyChanges(
        texts.flatMap((text, index) => [
          put({ email: BEN, id: `b${index}`, ref: `b${index}` }),
          put({ id: `a${index}`, ref: `a${index}` }),
          put({ kind: 'template', id: `t${index}`, ref: null, text }),
          put({ kind: 'uiLibrary', id: `u${index}`, ref: null }),
        ]),
      )
      return { userId: (await store.userByEmail(ANA))?.id ?? 0, kind: 'template' }
    }

    async function anExport(texts: readonly string[], minute = 0, digest = 'd'): Promise<void> {
      const made = {
        createdAt: `2026-01-01T00:0${minute}:00Z`,
        instant: `2026-01-01T00:0${minute}:00.000000000Z`,
      }
      const stage = `${minute}${digest}`
      await store.applyChanges([
        put(),
        { type: 'stageExport', stage, email: ANA, ref: 'r', ...made, now: NOW },
        { type: 'stageElements', stage, position: 1, texts, now: NOW },
        { type: 'sealExport', stage, digest, byteLength: 1, elementCount: texts.length },
      ])
    }

    async function history() {
      const userId = (await store.userByEmail(ANA))?.id ?? 0
      const [exports = []] = await store.exportsOf([{ userId, ref: 'r', after: null, limit: null }])
      return { userId, ref: 'r', exports }
    }

    test('every page of a list of documents has what lies between its bounds, from either end', async () => {
      const list = await fiveDocuments()
      const [documents = []] = await store.documentsOf([{ ...list, after: 0, limit: null }])
      const places = documents.map(({ position }) => position)
      const asked = everyPage(places)
      const pages = await store.documentsOf(asked.map((page) => ({ ...list, ...page, after: page.after ?? 0 })))
      expect(documents.map(({ text }) => text)).toEqual(['1', '2', '3', '4', '5'])
      expect(pages).toEqual(asked.map((page) => expectedPage(places, page).map((index) => documents[index])))
    })

    test('every page of a history has what lies between its bounds, newest first, from either end', async () => {
      // The two exports of one minute are ordered by their import.
      for (const [minute, digest] of [
        [3, 'x'],
        [1, 'x'],
        [2, 'x'],
        [2, 'y'],
        [4, 'x'],
      ] as const) {
        await anExport(['1'], minute, digest)
      }
      const { exports, ...ref } = await history()
      expect(exports.map(({ instant, digest }) => instant[15] + digest)).toEqual(['4x', '3x', '2y', '2x', '1x'])
      const asked = everyPage(exports)
      const pages = await store.exportsOf(asked.map((page) => ({ ...ref, ...page })))
      expect(pages).toEqual(asked.map((page) => expectedPage(exports, page).map((index) => exports[index])))
    })

    test('every page of an export has what lies between its bounds, from either end', async () => {
      await anExport(['"a"', '"b"', '"c"', '"d"'], 1)
      await anExport(['"other"'], 2)
      const { userId, exports } = await history()
      const exportId = exports[1]?.id ?? 0
      const asked = everyPage([1, 2, 3, 4])
      const pages = await store.elementsOf(asked.map((page) => ({ userId, exportId, ...page, after: page.after ?? 0 })))
      expect(pages.map((page) => page.map(({ position, text }) => `${position}${text}`))).toEqual(
        asked.map((page) => expectedPage([1, 2, 3, 4], page).map((index) => ['1"a"', '2"b"', '3"c"', '4"d"'][index])),
      )
    })

    test('positions outside a list are no error: 0, and numbers past the last', async () => {
      const list = await fiveDocuments()
      await anExport(['1'])
      const { userId, exports } = await history()
      const page = { after: 0, limit: null }
      for (const [before, count] of [
        [0, 0],
        [Number.MAX_SAFE_INTEGER, 5],
      ] as const) {
        const [documents] = await store.documentsOf([{ ...list, ...page, before }])
        expect(documents).toHaveLength(count)
        const [elements] = await store.elementsOf([{ userId, exportId: exports[0]?.id ?? 0, ...page, before }])
        expect(elements).toHaveLength(Math.min(count, 1))
      }
    })

    describe('parts of a page', () => {
      const LONG = `"${'é'.repeat(9_999)}"`

      test('end with the item that passes the byte limit, and say whether the page goes on', async () => {
        const list = await fiveDocuments(['"1"', LONG, '"3"', '"4"', '"é"'])
        const all = { ...list, after: 0, limit: null }
        const [documents = []] = await store.documentsOf([all])
        const third = documents[2]?.position ?? 0
        const asked: readonly Omit<PageWithin, 'after'>[] = [
          { limit: null, maxBytes: 0 },
          { limit: null, maxBytes: 2 },
          { limit: null, maxBytes: 3 },
          { limit: null, maxBytes: 1_000_000 },
          { limit: 2, maxBytes: 3 },
          { limit: 0, maxBytes: 3 },
          { limit: null, maxBytes: 6, fromEnd: true },
          { limit: null, maxBytes: 7, fromEnd: true },
          { limit: null, maxBytes: 10, fromEnd: true },
          { limit: 3, maxBytes: 1_000, fromEnd: true },
          { limit: null, maxBytes: 9, before: third },
          { limit: 1, maxBytes: 9, before: third, fromEnd: true },
        ]
        const parts = await store.documentsWithin(asked.map((page) => ({ ...all, ...page })))
        const told = parts.map(({ items, isCut }) => [
          items.map(({ text }) => (text === LONG ? 'long' : text)).join(),
          isCut,
        ])
        expect(told).toEqual([
          ['"1"', true],
          ['"1"', true],
          ['"1",long', true],
          ['"1",long,"3","4","é"', false],
          ['"1",long', false],
          ['', false],
          ['"4","é"', true],
          ['"3","4","é"', true],
          ['long,"3","4","é"', true],
          ['"3","4","é"', false],
          ['"1",long', false],
          ['long', false],
        ])
        expect(parts[3]?.items).toEqual(documents)
      })

      test('contain the whole page together, wherever it is cut', async () => {
        const texts = Array.from({ length: 30 }, (_, index) => `"${'x'.repeat((index * 7) % 40)}"`)
        await anExport(texts)
        const { userId, exports } = await history()
        const list = { userId, exportId: exports[0]?.id ?? 0, limit: null }
        for (const maxBytes of [0, 25, 80, 10_000]) {
          const [forwards, backwards]: [string[], string[]] = [[], []]
          for (let after = 0, isMore = true; isMore; ) {
            const [part] = await store.elementsWithin([{ ...list, after, maxBytes }])
            forwards.push(...(part?.items ?? []).map(({ text }) => text))
            after = part?.items.at(-1)?.position ?? 0
            isMore = part?.isCut === true
          }
          for (let before: number | undefined, isMore = true; isMore; ) {
            const [part] = await store.elementsWithin([{ ...list, after: 0, before, maxBytes, fromEnd: true }])
            backwards.unshift(...(part?.items ?? []).map(({ text }) => text))
            before = part?.items[0]?.position
            isMore = part?.isCut === true
          }
          expect([forwards, backwards], `${maxBytes} bytes`).toEqual([texts, texts])
        }
      })

      test('are cut by the state that is asked for, whatever the list was in the state before', async () => {
        const list = await fiveDocuments()
        const session = newSession()
        await store.addSessions([session])
        const seenNow = async () => {
          const [live] = await store.liveSessions([session.id], NOW)
          return { stateVersion: live?.stateVersion ?? '', onRead() {} }
        }
        const before = await seenNow()
        const page = { ...list, after: 0, limit: null, maxBytes: 6 }
        const told = async (asked: Partial<PageWithin & OfUser>) => {
          const [part] = await store.documentsWithin([{ ...page, ...asked }])
          return [part?.items.map(({ text }) => text).join(), part?.isCut]
        }
        // A part of the list that is short says nothing about the whole list.
        const [documents = []] = await store.documentsOf([page])
        for (const part of [{ after: documents[3]?.position ?? 0 }, { before: documents[1]?.position }])
          expect(await told({ expected: before, maxBytes: 1, ...part })).toEqual([expect.stringMatching(/^\d$/), false])
        expect(await told({ expected: before, maxBytes: 1 })).toEqual(['1,2', true])
        for (let round = 0; round < 2; round += 1) {
          expect(await told({ expected: before })).toEqual(['1,2,3,4,5', false])
          expect(await told({ expected: before, limit: 2 })).toEqual(['1,2', false])
          expect(await told({ expected: before, maxBytes: 1 })).toEqual(['1,2', true])
        }
        await store.applyChanges([put({ kind: 'template', id: 't0', ref: null, text: '1234567' })])
        const after = await seenNow()
        expect(after.stateVersion).not.toBe(before.stateVersion)
        for (let round = 0; round < 2; round += 1) {
          for (const seen of [after, undefined]) expect(await told({ expected: seen })).toEqual(['1234567', true])
        }
      })

      test('end with that item in a list of hundreds, too', async () => {
        const texts = Array.from({ length: 258 }, (_, index) => (index === 256 ? LONG : '1'))
        await store.applyChanges(texts.map((text, n) => put({ kind: 'template', id: `${n}`, ref: null, text })))
        const userId = (await store.userByEmail(ANA))?.id ?? 0
        const page = { userId, kind: 'template', after: 0, limit: null, maxBytes: 1_000 } as const
        const parts = await store.documentsWithin([page, { ...page, after: 257 }, { ...page, maxBytes: 100_000 }])
        expect(parts.map(({ items, isCut }) => [items.length, isCut])).toEqual([
          [257, true],
          [1, false],
          [258, false],
        ])
      })

      test('are cut in a long list, whatever page of its start was read before', async () => {
        const texts = [
          ...Array.from({ length: 256 }, () => '1'),
          ...Array.from({ length: 5 }, () => `"${'x'.repeat(99_998)}"`),
        ]
        await store.applyChanges(texts.map((text, n) => put({ kind: 'template', id: `${n}`, ref: null, text })))
        const session = newSession()
        await store.addSessions([session])
        const told = async (page: Partial<PageWithin>) => {
          const [live] = await store.liveSessions([session.id], NOW)
          const seen = { stateVersion: live?.stateVersion ?? '', onRead() {} }
          const list = {
            userId: live?.userId ?? 0,
            kind: 'template',
            after: 0,
            limit: null,
            maxBytes: 131_072,
          } as const
          const [part] = await store.documentsWithin([{ ...list, expected: seen, ...page }])
          return [part?.items.length, part?.isCut]
        }
        expect(await told({ before: 3 })).toEqual([2, false])
        expect(await told({})).toEqual([258, true])
        // The rest begins behind the positions whose sizes are added up.
        await store.applyChanges(
          texts.slice(0, 256).map((_, n) => ({ type: 'removeDocument', email: ANA, kind: 'template', id: `${n}` })),
        )
        expect(await told({ before: 3 })).toEqual([0, false])
        expect(await told({})).toEqual([2, true])
      })

      test('have a bounded number of items, however short these are', async () => {
        await anExport(Array.from({ length: MAX_ITEMS_WITHIN + 1 }, () => '0'))
        const { userId, exports } = await history()
        const page = { userId, exportId: exports[0]?.id ?? 0, after: 0, limit: null, maxBytes: 1_000_000 }
        const [first, rest, last, other] = await store.elementsWithin([
          page,
          { ...page, after: 1 },
          { ...page, fromEnd: true },
          { ...page, exportId: 999_999 },
        ])
        expect([first?.items.length, first?.isCut, first?.items[0]?.position]).toEqual([MAX_ITEMS_WITHIN, true, 1])
        expect([rest?.items.length, rest?.isCut]).toEqual([MAX_ITEMS_WITHIN, false])
        expect([last?.items.length, last?.isCut, last?.items[0]?.position]).toEqual([MAX_ITEMS_WITHIN, true, 2])
        expect(other).toEqual({ items: [], isCut: false })
      })
    })
  })
}
