// Tests commands that make a file and are stopped before it is whole.
import { EventEmitter } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { createWorkspace, templateLines } from '../support/import-workspace.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { SMALL_WORLD } from '../support/workspaces.ts'

const engines = [
  ['sqlite', async () => undefined] as const,
  ...(POSTGRES_URL === null ? [] : [['postgres', temporaryDatabase] as const]),
]

/** Emits SIGTERM as soon as something listens for it. */
function stoppedAtOnce(): EventEmitter {
  const signals = new EventEmitter()
  signals.once('newListener', () => setImmediate(() => signals.emit('SIGTERM')))
  return signals
}

test.each(engines)('backup and dump of %s that are stopped leave no file, and say so', async (_, database) => {
  const workspace = createWorkspace(runHere, await database())
  await workspace.load(SMALL_WORLD)
  const folder = workspace.path('made')
  mkdirSync(folder)
  for (const args of [
    ['backup', `${folder}/backup.file`],
    ['backup', folder, '--keep-newest', '1'],
    ['dump', '--output', `${folder}/dump.ndjson`],
  ]) {
    const stopped = await runHere([...args, ...workspace.flags], { signals: stoppedAtOnce() })
    expect([stopped.exitCode, stopped.stdout, stopped.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/^stopped: .*\n$/),
    ])
    expect(readdirSync(folder)).toEqual([])
  }
})

test('a running backup that is stopped ends its thread without terminating it', async () => {
  const workspace = createWorkspace()
  await workspace.load(templateLines(0, 10_000).join(''))
  const folder = workspace.path('made')
  mkdirSync(folder)
  const signals = new EventEmitter()
  const exitCodes: number[] = []
  process.once('worker', (worker) => {
    worker.once('exit', (exitCode) => exitCodes.push(exitCode))
    worker.once('online', () => signals.emit('SIGINT'))
  })
  const stopped = await runHere(['backup', `${folder}/backup.db`, ...workspace.flags], { signals })
  expect(stopped).toEqual({ exitCode: 1, stdout: '', stderr: 'stopped: no backup was made\n' })
  // A terminated thread has exit code 1.
  expect(exitCodes).toEqual([0])
  expect(readdirSync(folder)).toEqual([])
})
