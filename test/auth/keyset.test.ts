import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { KeysetOptions } from '../../src/auth/tokens/keyset.ts'
import { algorithmOf } from '../../src/auth/tokens/token-algorithms.ts'
import { createGate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { openTestStore } from '../support/sqlite-store.ts'

async function openCounted(options: Partial<KeysetOptions> = { sessionCheckMs: 1_000 }) {
  const stored = await openTestStore()
  onTestFinished(() => stored[Symbol.asyncDispose]())
  let reads = 0
  const gate = createGate()
  const store = Object.assign(Object.create(stored), {
    async signingKeys() {
      reads += 1
      await gate.passed()
      return stored.signingKeys()
    },
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const running = new AsyncDisposableStack()
  const keyset = await openTestKeyset({ store, now: Date.now }, { ...options, running })
  return {
    keyset,
    reads: () => reads,
    addKey: async (kid: string) => {
      const [first] = await stored.signingKeys()
      if (!first) throw new Error('there is no first key')
      const privateJwk = first.privateJwk.replaceAll(first.kid, kid)
      expect(await stored.addSigningKey({ kid, privateJwk, createdAt: first.createdAt + 1 }, first.kid)).toBe(true)
    },
    end: () => running.disposeAsync(),
    hold: gate.hold,
    async readsIn(milliseconds: number): Promise<number> {
      const before = reads
      for (let passed = 0; passed < milliseconds; passed += 100) {
        await vi.advanceTimersByTimeAsync(100)
        await nextTurn()
      }
      return reads - before
    },
  }
}

test.each(['oct', undefined])('a key type that signs nothing, %s, is named in the error', (kind) => {
  expect(() => algorithmOf(kind)).toThrow(`a signing key has the type ${kind}, which this program does not support`)
})

test('keys are not read after the gateway has ended', async () => {
  const { readsIn, end } = await openCounted()
  expect(await readsIn(1_000)).toBeGreaterThan(1)
  await end()
  expect(await readsIn(1_000)).toBe(0)
})

test('keys are not read after the gateway has ended during a read', async () => {
  const { readsIn, end, hold } = await openCounted()
  const answer = hold()
  expect(await readsIn(1_000)).toBe(1)
  await end()
  answer()
  expect(await readsIn(1_000)).toBe(0)
})

test('keys whose read took long are as old as its beginning: a key may have been removed since', async () => {
  const { keyset, reads, hold } = await openCounted({ sessionCheckMs: null })
  const { kid } = await keyset.signingKey()
  await vi.advanceTimersByTimeAsync(1_000)
  const answer = hold()
  const before = reads()
  const reading = keyset.keyOf(kid)
  await expect.poll(reads).toBe(before + 1)
  await vi.advanceTimersByTimeAsync(900)
  answer()
  expect(await reading).toMatchObject({ kid })
  expect(keyset.isCurrent(kid)).toBe(true)
  await vi.advanceTimersByTimeAsync(100)
  expect(keyset.isCurrent(kid)).toBe(false)
})

test('a key for another algorithm becomes the newest one, even if the clock of its gateway is behind', async () => {
  const { store, now } = await startGateway()
  const before = await openTestKeyset({ store, now })
  const { createdAt, algorithm } = await before.signingKey()
  let time = createdAt - 60_000
  const late = { store, now: () => time }
  for (let start = 0; start < 2; start += 1) await openTestKeyset(late, { algorithm: 'ES256' })
  expect(await store.signingKeys()).toHaveLength(2)
  const keyset = await openTestKeyset(late, { algorithm: 'ES256' })
  expect((await keyset.signingKey()).algorithm).toBe(algorithm)
  time = createdAt + 1
  expect((await keyset.signingKey()).algorithm).toBe('ES256')
})

test('unknown key ids, one in each turn, cause one read per tenth of a second', async () => {
  const { keyset, reads, readsIn } = await openCounted({})
  const found: Promise<unknown>[] = []
  const before = reads()
  for (let turn = 0; turn < 50; turn += 1) {
    found.push(keyset.keyOf(`made up ${turn}`))
    await nextTurn()
  }
  expect(reads()).toBe(before)
  expect(await readsIn(100)).toBe(1)
  expect(new Set(await Promise.all(found))).toEqual(new Set([null]))
  expect(await readsIn(200)).toBe(0)
})

test('a key that another gateway has just added is found, also while unknown key ids arrive', async () => {
  const { keyset, addKey, readsIn } = await openCounted({})
  const madeUp = keyset.keyOf('made up')
  await addKey('added')
  const added = keyset.keyOf('added')
  expect(await readsIn(100)).toBe(1)
  expect(await madeUp).toBeNull()
  expect(await added).toMatchObject({ kid: 'added' })
})
