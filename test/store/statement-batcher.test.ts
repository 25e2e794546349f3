// Tests how questions to PostgreSQL share statements: how many statements are sent, and how large they are.
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { coalesce } from '../../src/store/postgres/engine/statement-batcher.ts'

/** Records statements that are answered when the test says so. */
function recorded(ofRequest: (run: () => void) => () => void = (run) => run, patienceMs = 60_000) {
  const statements: { readonly keys: readonly number[]; readonly answer: () => void }[] = []
  const ask = coalesce(
    (keys: readonly number[]) => {
      const { promise, resolve } = Promise.withResolvers<readonly string[]>()
      statements.push({ keys, answer: () => resolve(keys.map((key) => `of ${key}`)) })
      return promise
    },
    { ofRequest, patienceMs },
  )
  return { statements, ask }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('at most two statements are in flight; questions that arrive meanwhile wait and go out as one batch', async () => {
  const { statements, ask } = recorded()
  const answers = Array.from({ length: 10 }, (_, key) => ask([key]))
  await settled()
  expect(statements.map(({ keys }) => keys)).toEqual([[0], [1]])
  statements[0]?.answer()
  await settled()
  expect(statements.map(({ keys }) => keys)).toEqual([[0], [1], [2, 3, 4, 5, 6, 7, 8, 9]])
  for (const { answer } of statements) answer()
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 10 }, (_, key) => [`of ${key}`]))
})

test('a statement has at most a thousand questions, unless a single caller has more', async () => {
  const { statements, ask } = recorded()
  const keys = (count: number) => Array.from({ length: count }, (_, key) => key)
  const answers = [1, 1, 600, 400, 1, 3_000].map((count) => ask(keys(count)))
  for (let next = 0; next < 5; next += 1) {
    await settled()
    statements[next]?.answer()
  }
  expect(statements.map((statement) => statement.keys.length)).toEqual([1, 1, 1_000, 1, 3_000])
  expect((await Promise.all(answers)).map(({ length }) => length)).toEqual([1, 1, 600, 400, 1, 3_000])
})

test('a failing statement fails for all its callers, and the next one is sent', async () => {
  const statements: (readonly number[])[] = []
  const ask = coalesce(
    async (keys: readonly number[]) => {
      statements.push(keys)
      if (keys.includes(2)) throw new Error('no')
      return keys
    },
    { ofRequest: (run) => run, patienceMs: 60_000 },
  )
  const answers = await Promise.allSettled([ask([0]), ask([1]), ask([2]), ask([3])])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  expect(await ask([4])).toEqual([4])
  expect(statements).toEqual([[0], [1], [2, 3], [4]])
})

test('an empty list of questions needs no statement', async () => {
  const { statements, ask } = recorded()
  expect(await ask([])).toEqual([])
  expect(statements).toEqual([])
})

test('a statement runs in the context of its first question, even when the end of another one starts it', async () => {
  const scope = new AsyncLocalStorage<string>()
  const sentFor: (string | undefined)[] = []
  const ends: (() => void)[] = []
  const ask = coalesce(
    (keys: readonly number[]) => {
      sentFor.push(scope.getStore())
      const { promise, resolve } = Promise.withResolvers<readonly number[]>()
      ends.push(() => resolve(keys))
      return promise
    },
    { ofRequest: (run) => AsyncLocalStorage.bind(run), patienceMs: 60_000 },
  )
  const answers = ['a', 'b', 'c', 'd'].map((name, key) => scope.run(name, () => ask([key])))
  const untraced = ask([9])
  await settled()
  ends[1]?.()
  await settled()
  for (const end of ends) end()
  expect(sentFor).toEqual(['a', 'b', 'c'])
  expect([await Promise.all(answers), await untraced]).toEqual([[[0], [1], [2], [3]], [9]])
})

test.each([true, false])(
  'a check for expired waits that finds none rejects nobody, and checks again later',
  async (asksMeanwhile) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const { statements, ask } = recorded(undefined, 3_000)
      const answers = [0, 1, 2].map((key) => ask([key]))
      vi.advanceTimersByTime(2_000)
      const late = ask([3]).catch((error) => error)
      statements[0]?.answer()
      await settled()
      expect(statements.at(-1)?.keys).toEqual([2, 3])
      const waiting = ask([4]).catch((error) => error)
      vi.advanceTimersByTime(asksMeanwhile ? 1_500 : 3_000)
      // It waits instead of being rejected at once.
      const next = asksMeanwhile ? ask([5]) : ['of 5']
      if (asksMeanwhile) vi.advanceTimersByTime(1_500)
      expect(await waiting).toBeInstanceOf(StoreUnavailableError)
      for (const { answer } of statements) answer()
      await settled()
      for (const { answer } of statements) answer()
      expect(await Promise.all([...answers, late, next])).toEqual([['of 0'], ['of 1'], ['of 2'], ['of 3'], ['of 5']])
      vi.advanceTimersByTime(10_000)
    } finally {
      vi.useRealTimers()
    }
  },
)

test('a question that waits too long is rejected, and then every new one at once, until a statement ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const { statements, ask } = recorded(undefined, 3_000)
    const outcomes: string[] = []
    const told = (name: string, keys: readonly number[]) =>
      ask(keys).then(
        () => outcomes.push(`${name} answered`),
        (error) => outcomes.push(`${name} ${error instanceof StoreUnavailableError ? 'refused' : error}`),
      )
    for (const [key, name] of ['first', 'second', 'third'].entries()) void told(name, [key])
    vi.advanceTimersByTime(2_000)
    void told('fourth', [3])
    vi.advanceTimersByTime(999)
    await settled()
    expect(outcomes).toEqual([])
    vi.advanceTimersByTime(1)
    void told('fifth', [4])
    await settled()
    expect(outcomes).toEqual(['third refused', 'fifth refused'])
    statements[0]?.answer()
    await settled()
    // The one that has waited less goes out, and the next one may wait again.
    expect(statements.map(({ keys }) => keys)).toEqual([[0], [1], [3]])
    void told('sixth', [5])
    await settled()
    for (const { answer } of statements) answer()
    await settled()
    for (const { answer } of statements) answer()
    await settled()
    expect(outcomes.slice(2).toSorted()).toEqual(
      ['first', 'fourth', 'second', 'sixth'].map((name) => `${name} answered`),
    )
  } finally {
    vi.useRealTimers()
  }
})

test('waiting questions are rejected one after another without new calls, with a single timer for all', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const { ask } = recorded(undefined, 3_000)
    const refused: number[] = []
    const asked = (key: number) =>
      ask([key]).catch((error) => {
        expect(error).toBeInstanceOf(StoreUnavailableError)
        refused.push(key)
      })
    for (const key of [0, 1, 2]) void asked(key)
    vi.advanceTimersByTime(1_000)
    for (const key of [3, 4]) void asked(key)
    expect(vi.getTimerCount()).toBe(1)
    // The first check is due when the first of them has waited long enough.
    vi.advanceTimersToNextTimer()
    await settled()
    expect(refused).toEqual([2])
    vi.advanceTimersToNextTimer()
    await settled()
    expect(refused).toEqual([2, 3, 4])
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
