import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

async function openCounted() {
  const stored = await openSqliteStore(join(temporaryDirectory(), 'keys.db'), {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
  onTestFinished(() => stored[Symbol.asyncDispose]())
  let reads = 0
  let held: EventTarget | null = null
  const store = Object.assign(Object.create(stored), {
    async signingKeys() {
      reads += 1
      if (held) await once(held, 'answer')
      return stored.signingKeys()
    },
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const running = new AsyncDisposableStack()
  await openTestKeyset({ store, now: Date.now }, { sessionCheckMs: 1_000, running })
  return {
    end: () => running.disposeAsync(),
    hold() {
      held = new EventTarget()
    },
    answer() {
      held?.dispatchEvent(new Event('answer'))
      held = null
    },
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

test('keys are read no more once the gateway has ended', async () => {
  const { readsIn, end } = await openCounted()
  expect(await readsIn(1_000)).toBeGreaterThan(1)
  await end()
  expect(await readsIn(1_000)).toBe(0)
})

test('keys are read no more, either, where a read was under way as the gateway ended', async () => {
  const { readsIn, end, hold, answer } = await openCounted()
  hold()
  expect(await readsIn(1_000)).toBe(1)
  await end()
  answer()
  expect(await readsIn(1_000)).toBe(0)
})
