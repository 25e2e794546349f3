import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test('keys are read no more once the gateway has ended, also where a read was under way', async () => {
  await using stored = await openSqliteStore(join(temporaryDirectory(), 'keys.db'), {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
  let reads = 0
  let database: EventTarget | null = null
  const store = Object.assign(Object.create(stored), {
    async signingKeys() {
      reads += 1
      if (database) await once(database, 'answer')
      return stored.signingKeys()
    },
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const running = new AsyncDisposableStack()
  await openTestKeyset({ store, now: Date.now }, { sessionCheckMs: 1_000, running })
  async function readsIn(milliseconds: number): Promise<number> {
    const before = reads
    for (let passed = 0; passed < milliseconds; passed += 100) {
      await vi.advanceTimersByTimeAsync(100)
      await nextTurn()
    }
    return reads - before
  }
  expect(await readsIn(1_000)).toBeGreaterThan(1)
  const held = new EventTarget()
  database = held
  expect(await readsIn(1_000)).toBe(1)
  await running.disposeAsync()
  database = null
  held.dispatchEvent(new Event('answer'))
  expect(await readsIn(1_000)).toBe(0)
})
