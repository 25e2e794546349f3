// How far an import runs ahead of a client that does not read its events (backpressure).
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_UNTAKEN } from '../src/cli/import/event-window.ts'
import type { ImportEvent } from '../src/import-export/run-import.ts'
import { startGateway } from './support/gateway.ts'
import { importerOf } from './support/importing-gateway.ts'
import { documentLine } from './support/workspaces.ts'

const USERS = 2 * MAX_UNTAKEN
const LINES = Array.from({ length: USERS }, (_, at) => documentLine('project', `user-${at}@example.com`, '{"id":"p"}'))

async function* input() {
  yield Buffer.from(LINES.join(''))
}

/** Starts a verbose dry run of a replacement and counts the users that its thread has reported. */
async function startReplacing() {
  let reported = 0
  const onWorker = (worker: Worker) =>
    worker.on('message', ({ type }: ImportEvent) => {
      if (type === 'user') reported += 1
    })
  process.on('worker', onWorker)
  onTestFinished(() => {
    process.off('worker', onWorker)
  })
  const { databaseUrl } = await startGateway()
  const options = { isReplacement: true, isDryRun: true, isVerbose: true, fields: {} }
  const importing = await importerOf(databaseUrl).run(input, options)
  if (!importing) throw new Error('another import is under way')
  return { importing, reported: () => reported }
}

test('a replacement that reports each user waits until its events are read, and then runs to its end', async () => {
  const { importing, reported } = await startReplacing()
  await expect.poll(reported).toBe(MAX_UNTAKEN)
  let read = 0
  let last: ImportEvent | null = null
  for await (const event of importing) {
    expect(reported()).toBeLessThanOrEqual(read + MAX_UNTAKEN)
    if (event.type === 'user') read += 1
    last = event
  }
  expect([read, last]).toEqual([USERS, expect.objectContaining({ type: 'wouldImport', added: USERS })])
  expect(await importing.ended).toBe(last)
})

test('a replacement that waits for its reader can be ended', async () => {
  const { importing, reported } = await startReplacing()
  await expect.poll(reported).toBe(MAX_UNTAKEN)
  await importing[Symbol.asyncDispose]()
  expect([reported(), (await importing.ended).type]).toEqual([MAX_UNTAKEN, 'progress'])
})
