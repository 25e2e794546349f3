// Several workers are ready as soon as one of them is.
import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createWorkerTotals } from '../src/cli/workers/add-up-workers.ts'

/** `isReady` null: its event loop stands still. */
function workerThatIs(isReady: boolean | null): Worker {
  const worker = new EventEmitter()
  return Object.assign(worker, {
    isConnected: () => true,
    send({ stateAsked }: { readonly stateAsked: number }) {
      if (isReady !== null) worker.emit('message', { stateAnswered: stateAsked, metrics: [], isReady })
    },
  }) as unknown as Worker
}

test('nobody waits for one that stands still beside one that is ready', async () => {
  // So that no patience ends by itself.
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const totals = createWorkerTotals()
  for (const isReady of [null, false, true]) totals.add(workerThatIs(isReady))
  expect(await totals.isReady()).toBe(true)
})

test('none of them is not, once all have answered or had their time', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const totals = createWorkerTotals()
  for (const isReady of [null, false]) totals.add(workerThatIs(isReady))
  const answer = totals.isReady()
  await vi.runAllTimersAsync()
  expect(await answer).toBe(false)
})
