// The reads of one request: equal questions are asked once, results are counted, parts of long lists released.
import { expect, test } from 'vitest'
import type { Reads } from '../../../src/resolvers/reads/reads.ts'
import { createRequestReads } from '../../../src/resolvers/reads/request-reads.ts'
import { RequestAborted, UNCOUNTED } from '../../../src/resolvers/request-budget.ts'
import type { StoredDocument, StoredExport } from '../../../src/store/contract.ts'

const item = (text: string) => ({ text, position: 1 }) as unknown as StoredDocument
const LIST = { userId: 1, kind: 'template' } as const
const ELEMENTS = { userId: 1, exportId: 1 }
const PAGE = { after: 0, limit: null }
const REF = { userId: 1, ref: 'site' }

/** Gives the same answer to every question, and records the questions. */
function createWorld(expected: Parameters<typeof createRequestReads>[1] = null, maxReads = Number.POSITIVE_INFINITY) {
  const asked: { readonly verb: string; readonly question: unknown }[] = []
  const counted: number[] = []
  const answering =
    <T>(verb: string, answer: T) =>
    async (question: unknown) => {
      asked.push({ verb, question })
      return answer
    }
  const shared: Reads = {
    documentsWithin: answering('documentsWithin', { items: [item('abc')], isCut: false }),
    documentsById: answering('documentsById', [item('abc'), null, item('d')]),
    documentCount: answering('documentCount', 2),
    projectsByRef: answering('projectsByRef', [null, item('abcde')]),
    latestExports: answering('latestExports', [null]),
    exportsByKey: answering('exportsByKey', [null]),
    exports: answering('exports', [{}, {}] as unknown as readonly StoredExport[]),
    exportCount: answering('exportCount', 2),
    elementsWithin: answering('elementsWithin', { items: [item('ab'), item('c')], isCut: true }),
    elementsAt: answering('elementsAt', [item('a'), null]),
    elementRun: answering('elementRun', null),
  }
  const letGo: number[] = []
  const budget = {
    ...UNCOUNTED,
    read(length: number) {
      counted.push(length)
      if (counted.length > maxReads) throw new RequestAborted('RESPONSE_TOO_LARGE')
    },
    letGo: (length: number) => letGo.push(length),
  }
  async function pace(): Promise<void> {
    asked.push({ verb: 'paced', question: null })
  }
  return { reads: createRequestReads(shared, expected, budget, pace), asked, counted, letGo }
}

test('equal questions are asked once, different ones separately', async () => {
  const { reads, asked, counted } = createWorld()
  const part = { ...LIST, ...PAGE, maxBytes: 1 }
  const [first, second] = await Promise.all([reads.documentsWithin(part), reads.documentsWithin(part)])
  expect(second).toBe(first)
  expect(await reads.documentsWithin(part)).toBe(first)
  await reads.documentsWithin({ ...part, limit: 1 })
  for (let time = 0; time < 2; time += 1) {
    await reads.documentCount(LIST)
    await reads.exportCount(REF)
    await reads.exports({ ...REF, after: null, limit: null })
  }
  expect(asked.map(({ verb }) => verb)).toEqual([
    'documentsWithin',
    'documentsWithin',
    'documentCount',
    'exportCount',
    'exports',
  ])
  expect(counted).toEqual([3, 3, 1_024])
})

test('a part is shared, and counts toward the budget, until everybody who asked for it has released it', async () => {
  const { reads, asked, counted, letGo } = createWorld()
  const part = { ...ELEMENTS, ...PAGE, maxBytes: 1 }
  const [first, second] = await Promise.all([reads.elementsWithin(part), reads.elementsWithin(part)])
  first.letGo()
  expect([asked.length, counted, letGo]).toEqual([1, [3], []])
  const third = await reads.elementsWithin(part)
  second.letGo()
  expect([asked.length, counted, letGo]).toEqual([1, [3], []])
  third.letGo()
  expect(letGo).toEqual([3])
  ;(await reads.elementsWithin(part)).letGo()
  expect([asked.length, counted, letGo]).toEqual([2, [3, 3], [3, 3]])
})

const PARTS = Array.from({ length: 95 }, (_, index) => ({ ...LIST, ...PAGE, limit: index + 1, maxBytes: 1 }))

test('parts of documents are read four at a time, the next ones by turns; parts of elements at once', async () => {
  const { reads, asked, counted } = createWorld()
  const parts = PARTS.map((part) => reads.documentsWithin(part))
  expect(asked).toHaveLength(4)
  expect(await Promise.all(parts)).toHaveLength(95)
  expect(asked.flatMap(({ question }) => question ?? [])).toEqual(PARTS)
  expect([asked.filter(({ verb }) => verb === 'paced').length, counted.length]).toEqual([91, 95])
  const { reads: others, asked: elements } = createWorld()
  for (const { limit } of PARTS) void others.elementsWithin({ ...ELEMENTS, ...PAGE, limit, maxBytes: 1 })
  expect(elements).toHaveLength(95)
})

test('if a request may not hold a part of documents, the parts that wait are not read', async () => {
  const { reads, asked } = createWorld(null, 2)
  const parts = await Promise.allSettled(PARTS.map((part) => reads.documentsWithin(part)))
  expect(parts.map(({ status }) => status)).toEqual(PARTS.map((_, index) => (index < 2 ? 'fulfilled' : 'rejected')))
  expect(new Set(parts.slice(2).map((part) => 'reason' in part && part.reason.code))).toEqual(
    new Set(['RESPONSE_TOO_LARGE']),
  )
  expect(asked.filter(({ verb }) => verb === 'documentsWithin').length).toBeLessThan(9)
})

test('only what is found counts when things are asked for by name', async () => {
  const { reads, counted } = createWorld()
  await reads.documentsById([])
  await reads.projectsByRef([])
  await reads.elementsAt([])
  expect(counted).toEqual([4, 5, 1])
})

test('every question names the state version of the session look-up, if there is one', async () => {
  const expected = { stateVersion: '7', onRead() {} }
  const [named, plain] = [createWorld(expected), createWorld()]
  for (const { reads } of [named, plain]) {
    await reads.documentCount(LIST)
    await reads.projectsByRef([REF])
  }
  expect(named.asked.map(({ question }) => question)).toEqual([{ ...LIST, expected }, [{ ...REF, expected }]])
  expect(plain.asked.map(({ question }) => question)).toEqual([LIST, [REF]])
})
