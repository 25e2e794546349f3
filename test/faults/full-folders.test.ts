// Tests full disks other than the one of the database: where an import keeps its input, and where a dump, stdout or the
// log goes.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run, runHere, serveForTest } from '../support/command-line.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { freePort } from '../support/free-port.ts'
import { createWorkspace, EVE, templateLines } from '../support/import-workspace.ts'
import { IMPORT_BEARER, IMPORT_TOKEN } from '../support/importing-gateway.ts'
import { PROGRAM } from '../support/program.ts'
import { BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

describe.skipIf(!canMount())('on a full disk', () => {
  // More bytes than a disk of one mebibyte has.
  const large = templateLines(0, 16_000).join('')

  test('import - names the folder of its input and the variable that chooses another', async () => {
    const workspace = createWorkspace()
    const env = { TMPDIR: smallDisk(1_048_576).path }
    const { exitCode, stdout, stderr } = await run(['import', '-', ...workspace.flags], { stdin: large, env })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^cannot store stdin in \S+ \(set TMPDIR to use another folder\): ENOSPC.*\n$/)
    expect(stderr).toContain(env.TMPDIR)
    expect(existsSync(workspace.path('workspace.db'))).toBe(false)
  })

  test('a dump to stdout exits with 1 when there is room for the beginning of its last chunk only', async () => {
    const workspace = createWorkspace()
    await workspace.load(documentLine('template', EVE, `{"id":"t1","text":"${'x'.repeat(100_000)}"}`))
    const file = openSync(join(smallDisk(32_768).path, 'dump.ndjson'), 'w')
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'dump', ...workspace.flags], {
      stdio: ['ignore', file, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(file)
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^cannot write to stdout: ENOSPC[^\n]*\n$/)])
  })

  test('an import that fills the disk says that its first records are stored, and another run completes it', async () => {
    const workspace = createWorkspace()
    const lines = templateLines(0, 40_000).join('')
    const input = workspace.write('lines.ndjson', lines)
    // There is room for the first records, but not for all: their lines alone are longer.
    const disk = smallDisk(32 * 1_048_576)
    const ballast = join(disk.path, 'ballast')
    appendFileSync(ballast, Buffer.alloc(30 * 1_048_576))
    const flags = ['--database', `file:${join(disk.path, 'workspace.db')}`]
    const { exitCode, stdout, stderr } = await run(['import', input, ...flags])
    expect([exitCode, stdout]).toEqual([1, ''])
    // The entry of the audit log may find room, or not.
    expect(stderr.replace('the audit log could not be written\n', '')).toMatch(
      /^broken off at record \d+: a part is stored; run it again to continue\n.*disk.* full\. [^\n]*\n$/,
    )
    expect((await runHere(['dump', ...flags])).stdout).toMatch(/^\{"kind":"template".*\n/)
    rmSync(ballast)
    const again = await runHere(['import', input, ...flags])
    expect([again.exitCode, again.stderr]).toEqual([0, ''])
    expect(again.stdout).toMatch(/: [1-9]\d* added, 0 replaced, [1-9]\d* unchanged /)
    await workspace.load(lines)
    expect((await runHere(['dump', ...flags])).stdout).toBe(await workspace.dump())
  })

  test('an import --replace that fills the disk changes nothing, and does not say that records are stored', async () => {
    const workspace = createWorkspace()
    const input = workspace.write('lines.ndjson', templateLines(0, 40_000).join(''))
    const disk = smallDisk(4 * 1_048_576)
    const flags = ['--database', `file:${join(disk.path, 'workspace.db')}`]
    expect((await runHere(['import', workspace.write('first.ndjson', SMALL_WORLD), ...flags])).exitCode).toBe(0)
    const before = await runHere(['dump', ...flags])
    const { exitCode, stdout, stderr } = await run(['import', input, '--replace', ...flags])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr.replace('the audit log could not be written\n', '')).toMatch(
      /^[^\n]*disk[^\n]*full\. Make room there first[^\n]*\n$/,
    )
    expect(await runHere(['dump', ...flags])).toEqual(before)
  })

  test('restore names the file that has no room, and leaves what was there', async () => {
    const workspace = createWorkspace()
    const users = Array.from({ length: 6_000 }, (_, at) => `{"kind":"user","email":"user${at}@example.com"}\n`)
    await workspace.load(users.join(''))
    const backup = workspace.path('backup')
    expect((await workspace.run('backup', backup)).exitCode).toBe(0)
    const { size } = statSync(backup)
    // There is room for the copy, but not for the write-ahead log of the preparation to serve it.
    const disk = smallDisk(size + 262_144)
    const database = join(disk.path, 'workspace.db')
    const { exitCode, stderr } = await runHere(['restore', backup, '--database', `file:${database}`])
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^cannot write \S+\.part: .*full\n$/)])
    expect(readdirSync(disk.path)).toEqual([])
  })

  test('restore of lines after a loss names the full disk, and keeps the files that record the loss', async () => {
    const workspace = createWorkspace()
    await workspace.load(large)
    const backup = workspace.write('backup', (await workspace.run('backup', '-')).stdout)
    const disk = smallDisk(1_048_576)
    const database = join(disk.path, 'workspace.db')
    const remains = { 'workspace.db-wal': 'a log', 'workspace.db.lost': 'lost\n' }
    for (const [name, text] of Object.entries(remains)) appendFileSync(join(disk.path, name), text)
    const { exitCode, stderr } = await runHere(['restore', backup, '--database', `file:${database}`])
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^[^\n]*full[^\n]*\n$/)])
    const found = readdirSync(disk.path).map((name) => [name, readFileSync(join(disk.path, name), 'utf8')])
    expect(Object.fromEntries(found)).toEqual(remains)
  })

  test('POST /import answers 503, the log names the folder, and imports work again once there is room', async () => {
    const workspace = createWorkspace()
    const disk = smallDisk(1_048_576)
    const flags = [...workspace.flags, '--import-token-file', workspace.write('token', IMPORT_TOKEN)]
    const serving = await serveForTest(flags, { env: { TMPDIR: disk.path } })
    const send = (body: string) =>
      fetch(`${serving.url}/import`, { method: 'POST', headers: { ...IMPORT_BEARER, connection: 'close' }, body })
    disk.fill()
    const refused = await send(SMALL_WORLD)
    const problem = await refused.json()
    expect([refused.status, refused.headers.get('retry-after'), problem.code]).toEqual([503, '60', 'UNAVAILABLE'])
    expect(JSON.stringify(problem)).not.toContain(disk.path)
    await expect.poll(serving.stderr).toMatch(new RegExp(`cannot store the input in ${disk.path}.*ENOSPC`))
    disk.empty()
    const answer = await send(SMALL_WORLD)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"type":"imported"')])
  })

  test('POST /import answers 503 for an input that is too large for the disk, and others notice nothing', async () => {
    const workspace = createWorkspace()
    const flags = [...workspace.flags, '--import-token-file', workspace.write('token', IMPORT_TOKEN)]
    const serving = await serveForTest(flags, { env: { TMPDIR: smallDisk(1_048_576).path } })
    const refused = await fetch(`${serving.url}/import`, { method: 'POST', headers: IMPORT_BEARER, body: large })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60'])
    expect((await refused.json()).code).toBe('UNAVAILABLE')
    const answer = await fetch(`${serving.url}/import`, { method: 'POST', headers: IMPORT_BEARER, body: SMALL_WORLD })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"type":"imported"')])
    expect(serving.stderr()).not.toContain('TypeError')
    expect(await serving.kill('SIGTERM')).toBe(0)
  })

  test.each(['offline', 'online'])('a move (%s) says which of its two disks is full', async (way) => {
    const workspace = createWorkspace()
    await workspace.load(large)
    const target = `file:${join(smallDisk(1_048_576).path, 'workspace.db')}`
    const [, source = ''] = workspace.flags
    const { exitCode, stderr } = await runHere([
      ...['move', '--from', source, '--to', target],
      ...(way === 'online' ? ['--online'] : []),
    ])
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^--to: the disk of the database is full\n$/)])
  })

  test('dump --output fails with one sentence and leaves no file of that name', async () => {
    const workspace = createWorkspace()
    await workspace.load(large)
    const path = join(smallDisk(1_048_576).path, 'dump.ndjson')
    const { exitCode, stderr } = await runHere(['dump', '--output', path, ...workspace.flags])
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^--output: cannot write \S+: ENOSPC.*\n$/)])
    expect(stderr).toContain(path)
    expect(existsSync(path)).toBe(false)
  })

  test('restore of a file fails with one sentence and leaves what was there', async () => {
    const workspace = createWorkspace()
    await workspace.load(large)
    const disk = smallDisk(1_048_576)
    const flags = ['--database', `file:${join(disk.path, 'workspace.db')}`]
    await runHere(['import', '-', ...flags], { stdin: SMALL_WORLD })
    const stored = (await runHere(['dump', ...flags])).stdout
    expect(stored).not.toBe('')
    const { exitCode, stdout, stderr } = await run(['restore', workspace.path('workspace.db'), ...flags])
    expect([exitCode, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^cannot copy \S+ to \S+: ENOSPC.*\n$/)])
    expect(readdirSync(disk.path).filter((name) => /part|before/.test(name))).toEqual([])
    expect((await runHere(['dump', ...flags])).stdout).toBe(stored)
  })

  test.each([
    ['dump', 'stderr'],
    ['users show ana@example.com', 'stderr'],
    ['users show ana@example.com', 'the same file'],
  ])('%s > FILE exits with 1, and writes one sentence to %s if there is room', async (command, where) => {
    const workspace = createWorkspace()
    await workspace.load(large)
    const disk = smallDisk(1_048_576)
    const stdout = openSync(join(disk.path, 'out'), 'w')
    disk.fill()
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...command.split(' '), ...workspace.flags], {
      stdio: ['ignore', stdout, where === 'stderr' ? 'pipe' : stdout],
      encoding: 'utf8',
    })
    closeSync(stdout)
    const sentence = /^cannot write to stdout: ENOSPC[^\n]*\n$/
    expect([status, stderr]).toEqual([1, where === 'stderr' ? expect.stringMatching(sentence) : null])
  })

  test.each(['1', '2'])(
    'serve > FILE 2>&1 continues to serve, and logs again when there is room, with --workers %s',
    async (workers) => {
      const disk = smallDisk(1_048_576)
      const path = join(disk.path, 'log')
      const log = openSync(path, 'a')
      disk.fill()
      const port = await freePort('127.0.0.1')
      const flags = [...createWorkspace().flags, '--port', String(port), '--workers', workers]
      const gateway = spawn(process.execPath, [PROGRAM, 'serve', ...flags], { stdio: ['ignore', log, log] })
      closeSync(log)
      const exited = once(gateway, 'exit')
      onTestFinished(async () => {
        gateway.kill('SIGKILL')
        await exited
      })
      const status = (route: string) =>
        fetch(`http://127.0.0.1:${port}${route}`, { headers: { connection: 'close' } }).then(
          (answer) => answer.status,
          () => null,
        )
      await expect.poll(() => gateway.exitCode ?? status('/readyz')).toBe(200)
      expect(await status('/projects')).toBe(401)
      expect(readFileSync(path, 'utf8')).toBe('')
      disk.empty()
      await expect
        .poll(async () => [await status('/projects'), readFileSync(path, 'utf8')])
        .toEqual([401, expect.stringMatching(/^\{[^\n]*"status":401[^\n]*\}$/m)])
      disk.fill()
      // Uses up the rest of the file's last page.
      expect(() => appendFileSync(path, Buffer.alloc(8_192))).toThrow('ENOSPC')
      expect(await status('/projects')).toBe(401)
      gateway.kill('SIGTERM')
      expect(await exited).toEqual([0, null])
    },
  )
})

describe.skipIf(process.platform !== 'linux')('when stdout has no room', () => {
  /** Runs a command to its end with a stdout that accepts nothing. */
  function runUnheard(...args: readonly string[]) {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    return { status, stderr }
  }

  test('a command completes its change, records it in the audit log, and erases removed data', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD + templateLines(0, 1, EVE).join(''))
    const input = workspace.write('input.ndjson', SMALL_WORLD.replaceAll('"name":"', '"name":"New '))
    const sentence = expect.stringMatching(/^cannot write to stdout: ENOSPC[^\n]*\n$/)
    for (const command of [
      ['import', input, '--replace', '--verbose'],
      ['users', 'remove', EVE],
      ['users', 'rename', BEN, 'ben@example.org'],
      ['keys', 'rotate'],
    ]) {
      expect(runUnheard(...command, ...workspace.flags), command.join(' ')).toEqual({ status: 1, stderr: sentence })
    }
    const audit = (await workspace.run('audit')).stdout.trim().split('\n')
    expect(audit.map((line) => JSON.parse(line)).map(({ kind, detail }) => [kind, detail])).toEqual([
      ['import', expect.stringContaining('added')],
      ['import', expect.stringContaining('replaced')],
      ['removal', expect.stringContaining('1 template')],
      ['removal', 'renamed'],
      ['keyAdded', expect.any(String)],
    ])
    expect(existsSync(workspace.path('workspace.db-wal'))).toBe(false)
    expect(readFileSync(workspace.path('workspace.db')).includes('must not appear')).toBe(false)
  })

  test('a list exits with 1 and one sentence', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    for (const command of [['users', 'list'], ['audit'], ['dump'], ['backup', '-'], ['config', 'print']]) {
      const { status, stderr } = runUnheard(...command, ...(command[0] === 'config' ? [] : workspace.flags))
      expect([command, status, stderr]).toEqual([
        command,
        1,
        expect.stringMatching(/^cannot write to stdout: [^\n]*\n$/),
      ])
    }
  })
})
