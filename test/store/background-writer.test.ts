// Tests the background writer: it runs one write at a time, removes old rows in steps, and reports a series of failures
// once.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startBackgroundWriter } from '../../src/store/background-writer.ts'

const HOUR_MS = 3_600_000

function start({ old = 0 }: { readonly old?: number | null } = {}) {
  const calls: string[] = []
  const failures: unknown[] = []
  let [now, left] = [0, old ?? 0]
  let failure: Error | null = null
  let gate: Promise<void> | null = null
  const writer = startBackgroundWriter({
    async write() {
      calls.push('write')
      await gate
      if (failure) throw failure
    },
    removeOld:
      old === null
        ? null
        : (limit) => {
            const removed = Math.min(limit, left)
            left -= removed
            calls.push(`remove ${removed}`)
            return removed
          },
    clock: () => now,
    onFailure: (error) => failures.push(error),
  })
  return {
    ...writer,
    failures,
    calls: () => calls.splice(0),
    advance(milliseconds: number) {
      now += milliseconds
    },
    fail(error: Error | null) {
      failure = error
    },
    hold(promise: Promise<void>) {
      gate = promise
    },
  }
}

test('the writer removes a thousand old rows after each write until it finds fewer, then once an hour', async () => {
  const { flush, calls, advance, [Symbol.asyncDispose]: stop } = start({ old: 2_000 })
  for (const removed of [1_000, 1_000, 0]) {
    await flush()
    expect(calls()).toEqual(['write', `remove ${removed}`])
  }
  advance(HOUR_MS - 1)
  await flush()
  expect(calls()).toEqual(['write'])
  advance(1)
  await flush()
  expect(calls()).toEqual(['write', 'remove 0'])
  await stop()
})

test('the writer still removes old rows after the clock was set back, or was ahead at the last removal', async () => {
  const { flush, calls, advance, [Symbol.asyncDispose]: stop } = start({ old: 1 })
  advance(1_000 * HOUR_MS)
  await flush()
  expect(calls()).toEqual(['write', 'remove 1'])
  advance(-900 * HOUR_MS)
  await flush()
  expect(calls()).toEqual(['write', 'remove 0'])
  await flush()
  expect(calls()).toEqual(['write'])
  await stop()
})

test('disposing of the writer waits for one removal step, however many rows are old', async () => {
  const { calls, [Symbol.asyncDispose]: stop } = start({ old: 5_000_000 })
  await stop()
  expect(calls()).toEqual(['write', 'remove 1000'])
})

test('the writer removes no row if rows are kept forever', async () => {
  const { flush, calls, [Symbol.asyncDispose]: stop } = start({ old: null })
  await flush()
  expect(calls()).toEqual(['write'])
  await stop()
  expect(calls()).toEqual(['write'])
})

test('the writer reports consecutive failures once, and again after a write that succeeded', async () => {
  const { flush, failures, fail, [Symbol.asyncDispose]: stop } = start()
  const away = new Error('away')
  const told: number[] = []
  for (const failure of [away, away, null, away, away]) {
    fail(failure)
    await flush()
    told.push(failures.length)
  }
  expect(told).toEqual([1, 1, 1, 2, 2])
  expect(failures).toEqual([away, away])
  await stop()
})

test('one write comes after another, and the writer also writes by itself', async () => {
  const { flush, calls, hold, [Symbol.asyncDispose]: stop } = start({ old: null })
  const gate = Promise.withResolvers<void>()
  hold(gate.promise)
  const first = flush()
  await new Promise((resolve) => setImmediate(resolve))
  const second = flush()
  await new Promise((resolve) => setImmediate(resolve))
  expect(calls()).toEqual(['write'])
  gate.resolve()
  await Promise.all([first, second])
  expect(calls()).toEqual(['write'])
  await expect.poll(() => calls().length).toBeGreaterThan(0)
  await stop()
})

test('disposing of the writer waits for one more write, however long the last one has taken', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { calls, hold, [Symbol.asyncDispose]: stop } = start({ old: null })
  const gate = Promise.withResolvers<void>()
  hold(gate.promise)
  await vi.advanceTimersByTimeAsync(60_000)
  const stopped = stop()
  gate.resolve()
  await stopped
  expect(calls()).toEqual(['write', 'write'])
})

test('the writer writes nothing any more after it was disposed of', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { calls, [Symbol.asyncDispose]: stop } = start({ old: null })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(calls().length).toBeGreaterThan(1)
  await stop()
  calls()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(calls()).toEqual([])
})

test('the writer does not keep a process alive that has nothing else to do', () => {
  const path = join(import.meta.dirname, '../../src/store/background-writer.ts')
  const code = `import { startBackgroundWriter } from ${JSON.stringify(path)}
    startBackgroundWriter({ write: async () => {}, removeOld: null, clock: Date.now, onFailure() {} })`
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { timeout: 120_000 })
  expect(status).toBe(0)
})
