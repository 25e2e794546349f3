// Tests commands that make a file and are stopped before it is whole.
import { EventEmitter } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { restorePartOf } from '../../src/cli/backup/restore-parts.ts'
import { type Running, runHere, startRunForTest } from '../support/command-line.ts'
import { createWorkspace, templateLines } from '../support/import-workspace.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const engines = [
  ['sqlite', async () => undefined] as const,
  ...(POSTGRES_URL === null ? [] : [['postgres', temporaryDatabase] as const]),
]

/** Emits SIGTERM as soon as something listens for it. */
function stoppedAtOnce(): EventEmitter {
  const signals = new EventEmitter()
  signals.on('newListener', (event) => {
    if (event === 'SIGTERM') void setImmediate().then(() => signals.emit('SIGTERM'))
  })
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

test.each(['file', 'stream'])(
  'restore of a %s that is stopped leaves the database as it was, and no file',
  async (kind) => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const backup = workspace.path('backup.file')
    if (kind === 'file') expect((await workspace.run('backup', backup)).exitCode).toBe(0)
    else workspace.write('backup.file', (await workspace.run('backup', '-')).stdout)
    if (kind === 'file') await workspace.load(documentLine('project', ANA, '{"id":"p2","ref":"app","name":"changed"}'))
    else rmSync(workspace.path('workspace.db'))
    const contents = () =>
      readdirSync(workspace.directory).map((name) => [name, readFileSync(workspace.path(name), 'base64')])
    const before = contents()
    const stopped = await runHere(['restore', backup, ...workspace.flags], { signals: stoppedAtOnce() })
    expect(stopped).toEqual({ exitCode: 1, stdout: '', stderr: 'stopped: nothing was restored\n' })
    expect(contents()).toEqual(before)
  },
)

test.skipIf(POSTGRES_URL === null)(
  'restore into PostgreSQL that is stopped halfway is completed by another run',
  async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const backup = workspace.write('backup.lines', (await workspace.run('backup', '-')).stdout)
    const restored = createWorkspace(runHere, await temporaryDatabase())
    const stopped = await runHere(['restore', backup, ...restored.flags], { signals: stoppedAtOnce() })
    const sentence = 'stopped: the database is incomplete, run it again to continue\n'
    expect(stopped).toEqual({ exitCode: 1, stdout: '', stderr: sentence })
    expect((await restored.run('users', 'list')).stderr).toContain('left incomplete by an interrupted one')
    expect(await restored.run('restore', backup)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await restored.dump()).toBe(await workspace.dump())
  },
)

test('restore removes what a killed restore has left, and not the file of one that is running', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const backup = workspace.path('backup.db')
  expect((await workspace.run('backup', backup)).exitCode).toBe(0)
  const folder = workspace.path('restored')
  mkdirSync(folder)
  const args = ['restore', backup, '--database', `file:${folder}/workspace.db`]
  const parts = () => readdirSync(folder).filter((name) => name.endsWith('.part'))

  let paused: Running | null = null
  do {
    // On a busy machine a restore begins and ends between two looks.
    await paused?.kill()
    paused = startRunForTest(args)
    while (paused.process.exitCode === null && parts().length === 0) await setImmediate()
    paused.process.kill('SIGSTOP')
    await setImmediate()
  } while (parts().length === 0)
  const [part = ''] = parts()
  const other = await runHere(args)
  expect([other.exitCode, other.stderr, parts()]).toEqual([0, '', [part]])
  expect(other.stdout).not.toContain('removed')

  await paused.kill()
  const { exitCode, stdout, stderr } = await runHere(args)
  expect([exitCode, stderr, parts()]).toEqual([0, '', []])
  expect(stdout).toMatch(`removed ${folder}/${part}, which a killed restore had left\n`)
  expect((await runHere(['dump', ...args.slice(2)])).stdout).toBe(await workspace.dump())
})

test('restore also removes what a killed restore with the same process id has left, as every one has in a container', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const [backup, folder] = [workspace.path('backup.db'), workspace.path('restored')]
  expect((await workspace.run('backup', backup)).exitCode).toBe(0)
  mkdirSync(folder)
  const left = restorePartOf(`${folder}/workspace.db`)
  writeFileSync(left, 'the beginning')
  const { exitCode, stdout } = await runHere(['restore', backup, '--database', `file:${folder}/workspace.db`])
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`removed ${left}, which a killed restore had left\n`)])
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
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
