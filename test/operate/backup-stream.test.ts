// Tests backups that are streamed to another machine, and trials on a copy, with the commands that the documentation
// shows.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const GATEWAY = `"${process.execPath}" "${PROGRAM}"`

function shell(script: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, stdout, stderr }
}

/** Returns the commands of a block of a page, with the program of this clone. */
function shownIn(page: string, first: string): string {
  const text = readFileSync(new URL(`../../docs/operate/${page}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
  const block = blocks.find((each) => each.startsWith(first)) ?? ''
  expect(block).not.toBe('')
  return block.replaceAll(/^(?:npx )?workspace-gateway/gm, GATEWAY)
}

const engines = [['SQLite', async () => `file:${join(temporaryDirectory(), 'workspace.db')}`] as const].concat(
  POSTGRES_URL === null ? [] : [['PostgreSQL', () => temporaryDatabase()] as never],
)

test.each(engines)(
  'a backup stream of %s is whole, prints its digest to stderr, and cannot be restored without its end',
  async (_, database) => {
    const gateway = await startGateway({ databaseUrl: await database() })
    await gateway.load(SMALL_WORLD)
    await gateway.load(documentLine('project', ANA, '{"id":"hostile","ref":"h","text":"\\u0000 \u2028 1.0","n":1.0}'))
    const { accessToken } = await gateway.login(ANA)
    const folder = temporaryDirectory()
    // Runs the command of the page with another shell in place of `ssh`.
    const script = shownIn('backups.md', 'set -o pipefail').replace('ssh backups.example.com', 'bash -c')
    const made = shell(script, folder, { WORKSPACE_GATEWAY_DATABASE: gateway.databaseUrl })
    expect([made.status, made.stdout]).toEqual([0, ''])
    const backup = join(folder, 'workspace.backup')
    const digest = shell('sha256sum workspace.backup', folder).stdout.split(' ')[0]
    expect(made.stderr).toMatch(/^backed up to stdout: [^\n]*\n$/)
    expect(made.stderr).toContain(`sha256 ${digest}\n`)
    const restoredUrl = `file:${join(folder, 'restored.db')}`
    expect(await runHere(['restore', backup, '--database', restoredUrl, '--keep-sessions'])).toMatchObject({
      exitCode: 0,
    })
    const dumps = await Promise.all(
      [gateway.databaseUrl, restoredUrl].map((url) => runHere(['dump', '--database', url])),
    )
    expect(dumps[1]?.stdout).toBe(dumps[0]?.stdout)
    const restored = await startGateway({ databaseUrl: restoredUrl })
    expect((await restored.get('/projects', accessToken)).text).toBe((await gateway.get('/projects', accessToken)).text)
    const cut = join(folder, 'cut.backup')
    writeFileSync(cut, readFileSync(backup).subarray(0, -200))
    const other = join(folder, 'other.db')
    const { exitCode, stderr } = await runHere(['restore', cut, '--database', `file:${other}`])
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^[^\n]+\n$/)])
    expect(existsSync(other)).toBe(false)
  },
)

test('a backup stream fails with one sentence when its reader ends, and refuses --keep-newest', async () => {
  const workspace = createWorkspace()
  await workspace.load(documentLine('project', ANA, `{"id":"p","text":"${'x'.repeat(1_000_000)}"}`))
  const flags = `--database "${workspace.flags[1]}"`
  const broken = shell(`set -o pipefail; ${GATEWAY} backup - ${flags} | head -c 10`, workspace.directory)
  expect([broken.status, broken.stdout]).toEqual([1, '{"type":"b'])
  expect(broken.stderr).toMatch(/^the backup is incomplete: the program that reads it ended[^\n]*\n$/)
  expect(await workspace.run('backup', '-', '--keep-newest', '3')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--keep-newest'),
  })
})

test('a backup stream that nobody reads ends after SIGTERM', async () => {
  const workspace = createWorkspace()
  await workspace.load(documentLine('project', ANA, `{"id":"p","text":"${'x'.repeat(5_000_000)}"}`))
  const child = spawn(process.execPath, [PROGRAM, 'backup', '-', ...workspace.flags])
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const complaints = text(child.stderr)
  // This listener reads a part of the stream and no more.
  await once(child.stdout, 'readable')
  child.kill('SIGTERM')
  expect(await exited).toEqual([1, null])
  expect(await complaints).toBe('stopped: no backup was made\n')
})

test('a trial on a copy works as the page says, and does not change the original', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const stored = await workspace.dump()
  expect(await workspace.run('backup', workspace.path('trial-backup.db'))).toMatchObject({ exitCode: 0 })
  const replaced = documentLine('project', ANA, '{"id":"only"}')
  workspace.write('workspaces.ndjson', replaced)
  const [commands = '', serve] = shownIn('upgrading.md', 'export WORKSPACE_GATEWAY_DATABASE').split(/^(?=.* serve )/m)
  const tried = shell(`set -e\n${commands}`, workspace.directory)
  expect([tried.status, tried.stderr]).toEqual([0, ''])
  expect(tried.stdout).toContain('all sessions have ended')
  // The check before the change changed nothing.
  expect(tried.stdout).toMatch(/would[\s\S]+removed/)
  expect(readFileSync(workspace.path('trial.ndjson'), 'utf8')).toContain(replaced)
  expect(await workspace.dump()).toBe(stored)
  expect(serve).toContain('--port 4001')
})
