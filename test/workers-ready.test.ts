// Several workers are ready as soon as one of them is.
import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createWorkerTotals } from '../src/cli/workers/add-up-workers.ts'

/** With `isReady` null, the worker never answers because its event loop hangs. */
function workerThatIs(isReady: boolean | null): Worker {
  const worker = new EventEmitter()
  return Object.assign(worker, {
    isConnected: () => true,
    send({ stateAsked }: { readonly stateAsked: number }) {
      if (isReady !== null) worker.emit('message', { stateAnswered: stateAsked, metrics: [], isReady })
    },
  }) as unknown as Worker
}

test('the workers are ready when one is, without waiting for one that hangs', async () => {
  // No timeout may end by itself.
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const totals = createWorkerTotals()
  for (const isReady of [null, false, true]) totals.add(workerThatIs(isReady))
  expect(await totals.isReady()).toBe(true)
})

test('the workers are not ready when each has answered that it is not, or has timed out', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const totals = createWorkerTotals()
  for (const isReady of [null, false]) totals.add(workerThatIs(isReady))
  const answer = totals.isReady()
  await vi.runAllTimersAsync()
  expect(await answer).toBe(false)
})
