// The command line: the demo workspace, options and environment, help, exit codes, signals and dumps.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { DUMP_OPTIONS } from '../src/cli/options/dump-options.ts'
import { IMPORT_OPTIONS } from '../src/cli/options/import-options.ts'
import {
  KEYS_ENCRYPT_OPTIONS,
  KEYS_LIST_OPTIONS,
  KEYS_RETIRE_OPTIONS,
  KEYS_ROTATE_OPTIONS,
} from '../src/cli/options/key-options.ts'
import { MOVE_OPTIONS } from '../src/cli/options/move-options.ts'
import { AUDIT_OPTIONS, SESSIONS_LIST_OPTIONS, SESSIONS_REVOKE_OPTIONS } from '../src/cli/options/operator-options.ts'
import { environmentName } from '../src/cli/options/option.ts'
import { SERVE_OPTIONS } from '../src/cli/options/serve-options.ts'
import { run, runHere, serveForTest } from './support/command-line.ts'
import { ask, bearer, openSession } from './support/gateway.ts'
import { createWorkspace, templateLines } from './support/import-workspace.ts'
import { PROGRAM } from './support/program.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { openSocket, readAnswers, readToEnd, requestText } from './support/wire.ts'
import { SMALL_WORLD } from './support/workspaces.ts'

test('the first serve in an empty directory loads the demo workspace and says so, and no later one does', async () => {
  const cwd = temporaryDirectory()
  const first = await serveForTest([], { cwd })
  expect(first.stdout()).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\n/)
  expect(first.stdout()).toContain('demo@example.com')
  const { accessToken } = await openSession(first.url, 'demo@example.com')
  const projects = await ask(`${first.url}/projects`, { headers: bearer(accessToken) })
  expect(projects.json().length).toBeGreaterThan(2)
  expect(await first.kill('SIGTERM')).toBe(0)
  expect(statSync(join(cwd, 'data')).mode & 0o077).toBe(0)
  const second = await serveForTest([], { cwd })
  expect(second.stdout()).not.toContain('demo')
  const again = await ask(`${second.url}/projects`, { headers: bearer(accessToken) })
  expect(again.text).toBe(projects.text)
})

test('a demo user who was removed does not come back with the next start', async () => {
  const cwd = temporaryDirectory()
  const first = await serveForTest([], { cwd })
  const database = `file:${join(cwd, 'data', 'workspace.db')}`
  const removed = await runHere(['users', 'remove', 'demo@example.com', '--database', database])
  expect(removed.stdout).toMatch(/^removed demo@example.com: [1-9]/)
  expect(await first.kill('SIGTERM')).toBe(0)
  const second = await serveForTest([], { cwd })
  expect(second.stdout()).not.toContain('demo')
  const { accessToken } = await openSession(second.url, 'demo@example.com')
  expect((await ask(`${second.url}/projects`, { headers: bearer(accessToken) })).status).toBe(404)
})

test('a start that finds its port in use leaves the demo workspace to the next start', async () => {
  const cwd = temporaryDirectory()
  const { url } = await serveForTest(['--no-demo'], { cwd: temporaryDirectory() })
  const refused = await run(['serve', '--port', new URL(url).port], { cwd })
  expect([refused.exitCode, refused.stdout]).toEqual([1, ''])
  const next = await serveForTest([], { cwd })
  await expect.poll(next.stdout).toContain('demo@example.com')
})

test('a start that cannot load the demo workspace ends, although it listens already', async () => {
  const cwd = temporaryDirectory()
  const path = join(cwd, 'no-files-left.mjs')
  const failing = `import fs from 'node:fs/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { open } = fs
    fs.open = async (path, ...rest) => {
      if (String(path).endsWith('demo-workspace.ndjson')) throw new Error('EMFILE: too many open files')
      return open(path, ...rest)
    }
    syncBuiltinESMExports()`
  writeFileSync(path, failing)
  const starting = serveForTest([], { cwd, env: { NODE_OPTIONS: `--import ${path}` } })
  await expect(starting).rejects.toThrow(/^serve ended before it listened: .*EMFILE: too many open files/s)
})

test('only the default database gets the demo workspace, not where others can reach it, and not with --no-demo', async () => {
  const others = ['--host', '0.0.0.0', '--login-guard', 'open']
  for (const args of [['--database', 'file:other.db'], others, ['--no-demo']]) {
    const serving = await serveForTest(args, { cwd: temporaryDirectory() })
    const url = serving.url.replace('0.0.0.0', '127.0.0.1')
    expect(serving.stdout()).not.toContain('demo')
    const { accessToken } = await openSession(url, 'demo@example.com')
    expect((await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(404)
  }
})

test('flags override the environment, and the environment overrides defaults', async () => {
  const cwd = temporaryDirectory()
  const env = { WORKSPACE_GATEWAY_BASE_PATH: '/from-env', WORKSPACE_GATEWAY_NO_DEMO: 'true' }
  const byEnvironment = await serveForTest([], { cwd, env })
  expect((await ask(`${byEnvironment.url}/from-env/healthz`)).status).toBe(200)
  expect(byEnvironment.stdout()).not.toContain('demo')
  const byFlag = await serveForTest(['--base-path', '/from-flag'], { cwd, env })
  expect((await ask(`${byFlag.url}/from-flag/healthz`)).status).toBe(200)
})

test('all errors of the configuration are reported at once, with exit code 2', async () => {
  const { exitCode, stderr, stdout } = await run(
    ['serve', '--port', '99999', '--base-path', 'x', '--body-limit', 'many'],
    {
      env: { WORKSPACE_GATEWAY_LOGIN_GUARD: 'nobody' },
    },
  )
  expect([exitCode, stdout]).toEqual([2, ''])
  for (const name of ['--port', '--base-path', '--body-limit', '--login-guard']) expect(stderr).toContain(name)
  expect(stderr).not.toMatch(/\n\s+at /)
})

// Node treats a timer of more than 2^31 - 1 ms as one of 1 ms.
test.each([
  { args: ['follow', 'no-address'], option: '--interval' },
  { args: ['config', 'check'], option: '--shadow-confirm' },
])('$option is at most what a timer can wait', async ({ args, option }) => {
  const told = async (value: string) => (await runHere([...args, option, value])).stderr.includes(`${option} (`)
  expect(await told('24d')).toBe(false)
  const { exitCode, stderr } = await runHere([...args, option, '25d'])
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(new RegExp(`^${option} \\(WORKSPACE_GATEWAY_[A-Z_]+\\): must be at most 24d$`, 'm'))
})

test.each([
  { args: ['sessions'], missing: 'sessions: name one of its commands, before all options: list, revoke' },
  {
    args: ['sessions', '--database', 'file:x', 'list'],
    missing: 'sessions: name one of its commands, before all options: list, revoke',
  },
  { args: ['--port', '4000'], missing: 'workspace-gateway: name one of its commands, before all options' },
])('$args is refused, because it lacks a command', async ({ args, missing }) => {
  const { exitCode, stdout, stderr } = await runHere(args)
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr.startsWith(`error: ${missing}\n\nUsage: `), stderr).toBe(true)
  expect(stderr).not.toContain('unknown option')
})

test.each(['servee', 'servee --port 1', 'servee --help', 'help servee', 'help servee now'])(
  'an unknown command is refused with the one that is probably meant, also by help: %s',
  async (line) => {
    const stderr = "error: unknown command 'servee'; did you mean serve?\n"
    expect(await runHere(line.split(' '))).toEqual({ exitCode: 2, stdout: '', stderr })
  },
)

test.each(['keys rotat', 'keys rotat --help', 'keys help rotat', 'help keys rotat'])(
  'so is one below another command: %s',
  async (line) => {
    const stderr = "error: unknown command 'rotat'; did you mean rotate?\n"
    expect(await runHere(line.split(' '))).toEqual({ exitCode: 2, stdout: '', stderr })
  },
)

test('help is about the command that is named, also below another command', async () => {
  const help = await runHere(['keys', 'rotate', '--help'])
  expect(help.stdout).toContain('Usage: workspace-gateway keys rotate ')
  expect(await runHere(['help', 'keys', 'rotate'])).toEqual(help)
  expect(await runHere(['keys', 'help', 'rotate'])).toEqual(help)
  expect((await runHere(['help', 'keys'])).stdout).toContain('Usage: workspace-gateway keys ')
  expect(await runHere(['help', 'help'])).toEqual(await runHere(['--help']))
})

test('an unknown option and an unknown command are wrong usage, and a port in use is a failure', async () => {
  const cwd = temporaryDirectory()
  const { url } = await serveForTest(['--no-demo'], { cwd })
  const inUse = await run(['serve', '--no-demo', '--port', new URL(url).port], { cwd })
  expect([inUse.exitCode, inUse.stderr.includes('in use')]).toEqual([1, true])
  expect((await run(['serve', '--colour', 'red'])).exitCode).toBe(2)
  expect((await runHere(['sing'])).exitCode).toBe(2)
  expect((await runHere(['import'])).exitCode).toBe(2)
})

describe('--help', () => {
  test.each([
    ['serve', SERVE_OPTIONS],
    ['import', IMPORT_OPTIONS],
    ['dump', DUMP_OPTIONS],
    ['move', MOVE_OPTIONS],
    ['sessions list', SESSIONS_LIST_OPTIONS],
    ['sessions revoke', SESSIONS_REVOKE_OPTIONS],
    ['keys list', KEYS_LIST_OPTIONS],
    ['keys rotate', KEYS_ROTATE_OPTIONS],
    ['keys retire', KEYS_RETIRE_OPTIONS],
    ['keys encrypt', KEYS_ENCRYPT_OPTIONS],
    ['audit', AUDIT_OPTIONS],
  ])('of %s names every option and its environment variable', async (command, options) => {
    const { exitCode, stdout } = await runHere([...command.split(' '), '--help'])
    expect(exitCode).toBe(0)
    for (const row of Object.values(options)) {
      if (row.isEnvironmentOnly === true) {
        expect(stdout).toContain(`${environmentName(row)}  ${row.description}`)
        expect(stdout).not.toContain(row.flags)
        continue
      }
      expect(stdout).toContain(row.flags)
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`env: ${environmentName(row)}`)
    }
  })

  test('of the program names every command', async () => {
    const { exitCode, stdout } = await run(['--help'])
    expect(exitCode).toBe(0)
    for (const command of ['serve', 'import', 'dump', 'move', 'mail', 'clients']) expect(stdout).toContain(command)
  })
})

test('a replica without PostgreSQL or with a bad URL is wrong usage, and no message has its password', async () => {
  const [sqlite, unreadable] = await Promise.all([
    run(['serve', '--port', '0', '--database', 'file:x.db'], {
      cwd: temporaryDirectory(),
      env: { WORKSPACE_GATEWAY_DATABASE_REPLICA: 'postgres://u:secret@127.0.0.1/d' },
    }),
    run(['serve', '--database', 'postgres://h/d', '--database-replica', 'postgres://u:secret@h/d?sslmode=some']),
  ])
  expect([sqlite.exitCode, sqlite.stderr]).toEqual([
    2,
    'database-replica: only a database on PostgreSQL has replicas\n',
  ])
  expect([unreadable.exitCode, unreadable.stderr]).toEqual([
    2,
    expect.stringMatching(/^database-replica: sslmode must be /),
  ])
  expect(unreadable.stderr).not.toContain('secret')
})

test('SIGTERM and SIGINT let a request finish, and the gateway ends with exit code 0', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const serving = await serveForTest(['--no-demo'], { cwd: temporaryDirectory() })
    const socket = await openSocket(serving.url)
    const body = JSON.stringify({ email: 'ana@example.com' })
    const request = requestText({
      method: 'POST',
      target: '/login',
      headers: [['Content-Type', 'application/json']],
      body,
    })
    socket.write(request.slice(0, -1))
    // This answer comes after the bytes above have arrived.
    await ask(`${serving.url}/healthz`)
    const ended = serving.kill(signal)
    await expect.poll(serving.stderr).toContain('"stopping"')
    socket.write(request.slice(-1))
    const [answer] = readAnswers(await readToEnd(socket))
    expect([answer?.status, answer?.json().refreshToken]).toEqual([200, expect.stringMatching(/^wgr_/)])
    expect(await ended).toBe(0)
    await expect(ask(`${serving.url}/healthz`)).rejects.toThrow()
  }
})

test('a database that cannot be opened is a clear error, and stays as it is', async () => {
  const cwd = temporaryDirectory()
  const file = join(cwd, 'notes.txt')
  writeFileSync(file, 'not a database, but somebody’s notes\n'.repeat(100))
  const before = readFileSync(file)
  const { exitCode, stderr } = await runHere(['serve', '--port', '0', '--database', `file:${file}`])
  expect([exitCode, stderr.includes('not a database'), stderr.includes(' at ')]).toEqual([2, true, false])
  expect(readFileSync(file)).toEqual(before)
})

test('dump writes one user, or everything to a new file, and never over an existing file', async () => {
  const directory = temporaryDirectory()
  const database = ['--database', `file:${join(directory, 'workspace.db')}`]
  const output = join(directory, 'all.ndjson')
  expect((await runHere(['import', '-', ...database], { stdin: SMALL_WORLD })).exitCode).toBe(0)
  const one = await runHere(['dump', '--email', 'BEN@example.com', ...database])
  expect(one.stdout.split('\n').filter(Boolean)).toHaveLength(2)
  expect(one.stdout).not.toContain('ana@example.com')
  expect((await runHere(['dump', '--email', 'nobody@example.com', ...database])).exitCode).toBe(2)
  expect((await runHere(['dump', '--output', output, ...database])).exitCode).toBe(0)
  expect(readFileSync(output, 'utf8')).toContain('ana@example.com')
  const again = await runHere(['dump', '--output', output, ...database])
  expect([again.exitCode, again.stderr]).toEqual([2, expect.stringMatching(/all\.ndjson exists already/)])
})

test('dump --output - writes to stdout', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const folder = temporaryDirectory()
  const dumped = await run(['dump', '--output', '-', ...workspace.flags], { cwd: folder })
  expect(dumped).toEqual({ exitCode: 0, stdout: await workspace.dump(), stderr: '' })
  expect(readdirSync(folder)).toEqual([])
})

test('dump --output gives its file the name only when it is whole', async () => {
  const workspace = createWorkspace()
  await workspace.load(templateLines(0, 5_000).join(''))
  const folder = temporaryDirectory()
  const output = join(folder, 'all.ndjson')
  let isDone = false
  const dumping = runHere(['dump', '--output', output, ...workspace.flags]).finally(() => {
    isDone = true
  })
  const sizes = new Set<number>()
  while (!isDone) {
    const found = statSync(output, { throwIfNoEntry: false })
    if (found) sizes.add(found.size)
    await setImmediate()
  }
  expect(await dumping).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  expect(readdirSync(folder)).toEqual(['all.ndjson'])
  const { size, mode } = statSync(output)
  expect(mode & 0o777).toBe(0o600)
  expect([...sizes].filter((seen) => seen !== size)).toEqual([])
})

test('dump of a missing database says so, and makes none', async () => {
  const cwd = temporaryDirectory()
  const { exitCode, stderr } = await run(['dump', '--database', 'file:missing.db'], { cwd })
  expect([exitCode, stderr.includes('missing.db')]).toEqual([2, true])
  expect(existsSync(join(cwd, 'missing.db'))).toBe(false)
})

test.each([
  ['serve', '--help'],
  ['config', 'print'],
])('%s %s ends quietly when nobody reads its output', async (...args) => {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: temporaryDirectory(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  expect(await text(child.stderr)).toBe('')
})
