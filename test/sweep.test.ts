// The periodic cleanup of expired rows.
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSweep } from '../src/store/sweep.ts'
import { openTestStore } from './support/sqlite-store.ts'

/** Makes pauses last no time until the test ends. Returns how long those were that a sweep asked for. */
function skipPauses(): ReadonlySet<unknown> {
  const asked = new Set<unknown>()
  const pause = vi.spyOn(timers, 'setTimeout').mockImplementation((ms, value) => {
    asked.add(ms)
    return timers.setImmediate(value)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    pause.mockRestore()
    syncBuiltinESMExports()
  })
  return asked
}

test('a sweep removes all expired sessions without any traffic, and keeps the others', async () => {
  const store = await openTestStore()
  onTestFinished(() => store[Symbol.asyncDispose]())
  const sessionOf = (n: number, idleExpiresAt: number) => ({
    id: `session-${n}`,
    email: 'ana@example.com',
    refreshHash: Buffer.from(`hash ${n}`),
    createdAt: 0,
    lastUsedAt: 0,
    userAgent: '',
    network: '',
    client: '',
    idleExpiresAt,
    expiresAt: 1_000,
  })
  await store.addSessions(Array.from({ length: 1_300 }, (_, n) => sessionOf(n, n === 7 ? 200 : 100)))
  const reported: unknown[] = []
  using _ = startSweep(
    () => store.dropExpiredSessions(150),
    (error) => reported.push(error),
  )
  await expect.poll(async () => (await store.sessionsAfter('', 10_000)).map(({ id }) => id)).toEqual(['session-7'])
  expect(reported).toEqual([])
})

test('a sweep reports an error, and tries again after a minute', async () => {
  const reported: unknown[] = []
  const pauses = skipPauses()
  const failure = new Error('not now')
  using _ = startSweep(
    async () => {
      throw failure
    },
    (error) => reported.push(error),
  )
  await expect.poll(() => reported.length).toBeGreaterThan(2)
  expect(new Set(reported)).toEqual(new Set([failure]))
  expect(pauses).toEqual(new Set([60_000]))
})
