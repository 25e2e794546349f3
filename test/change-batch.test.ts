// How an import divides its changes into transactions.
import { expect, onTestFinished, test } from 'vitest'
import { createChangeBatch, PAUSE_MS } from '../src/import-export/change-batch.ts'
import type { Change } from '../src/store/contract.ts'

function templateOf(text: string): Change {
  return { type: 'putDocument', email: 'ana@example.com', kind: 'template', id: 'a', ref: null, text }
}

function sizesOf(transactionMs: number, texts: readonly string[]): Promise<readonly number[]> {
  return sizesOfChanges(transactionMs, texts.map(templateOf))
}

async function sizesOfChanges(transactionMs: number, changes: readonly Change[]): Promise<readonly number[]> {
  const sizes: number[] = []
  // Only transactions and reading a line take time here: no pause is waited for.
  let now = 0
  const store = {
    async applyChanges(applied: readonly Change[]) {
      sizes.push(applied.length)
      now += transactionMs
      return applied.map(() => 'added' as const)
    },
  }
  const batch = createChangeBatch(
    store,
    async () => {},
    () => now,
  )
  for (const change of changes) {
    now += PAUSE_MS
    await batch.add(change, null)
  }
  now += PAUSE_MS
  await batch.flush()
  return sizes
}

test('between two transactions, others have time to get the lock', async () => {
  let turns = 0
  const asking = setInterval(() => {
    turns += 1
  }, 1)
  onTestFinished(() => clearInterval(asking))
  const seen: number[] = []
  const store = {
    async applyChanges(changes: readonly Change[]) {
      seen.push(turns)
      return changes.map(() => 'added' as const)
    },
  }
  // Only pauses take time here.
  const batch = createChangeBatch(
    store,
    async () => {},
    () => 0,
  )
  for (let index = 0; index < 1_000; index += 1) await batch.add(templateOf('{}'), null)
  const [first = 0, ...later] = seen
  expect(later.length).toBeGreaterThan(0)
  later.reduce((before, now) => {
    expect(now).toBeGreaterThan(before)
    return now
  }, first)
})

test('a store that takes long for every transaction, however small, does not get ever smaller ones', async () => {
  expect(await sizesOf(80, Array(1_024).fill('{}'))).toEqual([256, 256, 256, 256])
})

test('a quick store gets larger and larger transactions', async () => {
  expect(await sizesOf(0, Array(1_792).fill('{}'))).toEqual([256, 512, 1_024])
})

test('long texts end a transaction early', async () => {
  const text = 'x'.repeat(1_100_000)
  expect(await sizesOf(0, [text, text, text, text, '{}'])).toEqual([2, 2, 1])
})

test('users who are removed end a transaction early, because each may have very many rows', async () => {
  const removals = Array.from(
    { length: 6 },
    (_, user): Change => ({ type: 'removeUser', email: `${user}@example.com` }),
  )
  expect(await sizesOfChanges(80, removals)).toEqual([4, 2])
})
