// How far an import runs ahead of a client that does not read its events (backpressure), or has left.
import { open } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_UNTAKEN } from '../src/cli/import/event-window.ts'
import { type ImportEvent, runImport } from '../src/import-export/run-import.ts'
import { startGateway } from './support/gateway.ts'
import { createWorkspace } from './support/import-workspace.ts'
import { importerOf } from './support/importing-gateway.ts'
import { openTestStore } from './support/sqlite-store.ts'
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
  const importer = importerOf(databaseUrl)
  const importing = await importer.run(input, options)
  if (!importing) throw new Error('another import is under way')
  return { importer, importing, options, reported: () => reported }
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

test('the thread of the next import starts when the one of a broken-off import has ended', async () => {
  const { importer, importing, options, reported } = await startReplacing()
  await expect.poll(reported, { timeout: 30_000 }).toBe(MAX_UNTAKEN)
  const order: string[] = []
  void importing.ended.then(() => order.push('the first one ended'))
  process.once('worker', () => order.push('the second one started'))
  const ending = importing[Symbol.asyncDispose]()
  const next = await importer.run(async function* () {}, options)
  await ending
  await next?.[Symbol.asyncDispose]()
  expect(order).toEqual(['the first one ended', 'the second one started'])
})

test('a replacement that is told to stop swaps in no further users, even if it does not report them', async () => {
  await using store = await openTestStore()
  await using file = await open(createWorkspace().write('users.ndjson', LINES.join('')))
  const stopping = new AbortController()
  const options = { isReplacement: true, isDryRun: false, isVerbose: false, fields: {} }
  const fields = { idFields: ['id'], refFields: ['id'] }
  let swaps = 0
  const stoppedWhileSwapping: typeof store = {
    ...store,
    async swapReplacement(question) {
      swaps += 1
      stopping.abort(new Error('told to stop'))
      return store.swapReplacement(question)
    },
  }
  const target = { store: stoppedWhileSwapping, emit() {}, stop: stopping.signal }
  await expect(runImport(file, options, fields, target)).rejects.toThrow('told to stop')
  expect(swaps).toBe(1)
})
