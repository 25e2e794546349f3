// Tests which combinations of host, login guard and proxy options `serve` accepts, and how several guards combine.
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type LoginGuard, pass, refuse } from '../../src/auth/guards/guard.ts'
import { createGuardList } from '../../src/auth/guards/guard-list.ts'
import { guardsOf, LOGIN_GUARD_NAMES } from '../../src/auth/guards/guards.ts'
import { EXPOSURE_RULES, exposureWarnings } from '../../src/cli/login-exposure.ts'
import { parseOptions } from '../../src/cli/options/option.ts'
import { SERVE_OPTIONS } from '../../src/cli/options/serve-options.ts'
import { callerWith } from '../support/callers.ts'
import { run, runHere } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

const OPTIONS = { trustedOrigins: [] }

function problemOf(values: Readonly<Record<string, string | boolean>>): string | null {
  const config = parseOptions(SERVE_OPTIONS, values)
  return EXPOSURE_RULES.flatMap((rule) => rule(config, () => OPTIONS)).join('\n') || null
}

describe('the options of a start', () => {
  test.each([
    {},
    { host: 'localhost' },
    { host: '::1' },
    { host: '0.0.0.0', loginGuard: 'none' },
    { host: '0.0.0.0', loginGuard: 'open' },
    { trustedProxy: '127.0.0.1' },
    { trustedProxy: '127.0.0.1,10.0.0.0/8', proxyProtocol: true },
  ])('are accepted: %j', (values) => expect(problemOf(values)).toBeNull())

  test.each([
    [{ host: '0.0.0.0' }, ['--host 0.0.0.0 --login-guard none', '--host 127.0.0.1 --login-guard local']],
    [{ host: '::' }, ['--host :: --login-guard open']],
    [{ host: '192.0.2.2', trustedProxy: '10.0.0.0/8' }, ['--host 192.0.2.2 --login-guard none']],
    [{ loginGuard: 'local,open' }, ['cannot be combined']],
    [{ loginGuard: 'none,local' }, ['cannot be combined']],
    [{ proxyProtocol: true }, ['--trusted-proxy 127.0.0.1']],
    [{ host: '0.0.0.0', proxyProtocol: true }, ['--login-guard none', '--trusted-proxy 127.0.0.1']],
  ])('are refused, with the lines to write instead: %j', (values, lines) => {
    const problem = problemOf(values)
    for (const line of lines) expect(problem).toContain(line)
  })

  test.each(['0.0.0.0', '::', '192.0.2.200'])('are refused with proposals in columns, for --host %s', (host) => {
    const lines = (problemOf({ host }) ?? '').split('\n').filter((line) => line.startsWith('  --host '))
    expect(lines.length).toBeGreaterThan(2)
    const starts = lines.map((line) => /^.*--login-guard \S+ +/.exec(line)?.[0].length)
    expect(new Set(starts).size, lines.join('\n')).toBe(1)
  })

  test('are refused with proposals that are accepted, or that lack only the options of their guard', () => {
    const lines = [...(problemOf({ host: '0.0.0.0' }) ?? '').matchAll(/^ {2}--host (\S+) --login-guard (\S+)/gm)]
    expect(new Set(lines.map(([, , loginGuard]) => loginGuard))).toEqual(new Set(LOGIN_GUARD_NAMES))
    for (const [line, host = '', loginGuard = ''] of lines) {
      const problem = problemOf({ host, loginGuard })
      const needsMore = ['assertion', 'mail'].includes(loginGuard)
      expect(problem, line).toEqual(needsMore ? expect.stringContaining(`login guard "${loginGuard}" needs`) : null)
      expect(problem ?? '', line).not.toContain('can be reached from other machines')
    }
  })

  test.each([
    ['--trusted-proxy', 'localhost'],
    ['--trusted-proxy', '10.0.0.0/33'],
    ['--trusted-proxy', '127.0.0.1,0.0.0.0/0'],
    ['--login-guard', 'everybody'],
    ['--login-guard', ','],
    ['--rate-limits', 'some'],
  ])('are refused on the command line: %s %s', async (flag, value) => {
    const { exitCode, stdout, stderr } = await runHere(['serve', flag, value])
    expect([exitCode, stdout, stderr.includes(flag)]).toEqual([2, '', true])
  })

  test('cause a warning about the callers that the guard admits, or about a guard that admits nobody', () => {
    const warnings = (values: Readonly<Record<string, string>>) =>
      exposureWarnings(parseOptions(SERVE_OPTIONS, values), 1_000)
    expect(warnings({ loginGuard: 'none' })).toEqual([])
    expect(warnings({ loginGuard: 'open' })).toEqual([expect.stringContaining('anyone')])
    expect(warnings({ trustedProxy: '127.0.0.1' })).toContainEqual(expect.stringContaining('--login-guard'))
  })

  test('cause a warning about each guard that is never asked, because mail decides before it', () => {
    const warnings = (loginGuard: string) => exposureWarnings(parseOptions(SERVE_OPTIONS, { loginGuard }), 1_000)
    expect(warnings('client,mail,assertion')).toEqual([expect.stringMatching('"assertion": it is never asked')])
    expect(warnings('client,assertion,mail')).toEqual([])
  })

  test("cause a warning if systemd created the user of the service, but the manual's lines cause none", async () => {
    const warnings = (loginGuard: string, userId: number | undefined) =>
      exposureWarnings(parseOptions(SERVE_OPTIONS, { loginGuard }), userId)
    for (const userId of [61_184, 65_519]) {
      expect(warnings('local', userId)).toEqual([expect.stringContaining('nobody can sign in')])
      expect(warnings('none', userId)).toEqual([])
    }
    for (const userId of [undefined, 0, 61_183, 65_520]) expect(warnings('local', userId)).toEqual([])
    const paper = readFileSync(new URL('../../docs/operate/installing.md', import.meta.url), 'utf8')
    const [, lines = ''] = /^ {2}```ini\n(.*?)^ {2}```$/ms.exec(paper) ?? []
    const env = Object.fromEntries(lines.split('\n').flatMap((line) => (line ? [line.trim().split(/=(.*)/, 2)] : [])))
    const { exitCode, stdout, stderr } = await run(['config', 'print'], { env })
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^login-guard: +mail /m)
  })

  test('cause a warning if the database has a second name, under which SQLite would have a second log', () => {
    const path = join(temporaryDirectory(), 'workspace.db')
    const warnings = (name: string) =>
      exposureWarnings(parseOptions(SERVE_OPTIONS, { database: `file:${name}` }), 1_000)
    writeFileSync(path, '', { mode: 0o600 })
    symlinkSync(path, `${path}-symbolic`)
    expect([...warnings(path), ...warnings(`${path}-symbolic`)]).toEqual([])
    linkSync(path, `${path}-hard`)
    for (const name of [path, `${path}-symbolic`, `${path}-hard`]) {
      expect(warnings(name)).toEqual([
        expect.stringMatching(/has another name.* find \/ -xdev -samefile \S+, and remove/),
      ])
    }
    rmSync(`${path}-hard`)
    expect(warnings(path)).toEqual([])
    // Other databases have no names in a file system, and a folder has several by itself.
    expect(exposureWarnings(parseOptions(SERVE_OPTIONS, { database: 'postgres://h/d' }), 1_000)).toEqual([])
    expect(warnings(dirname(path))).toEqual([])
  })

  test('cause a warning if every user of the machine can read the database', () => {
    const folder = temporaryDirectory()
    const path = join(folder, 'restored.db')
    for (const end of ['', '-wal']) writeFileSync(path + end, '')
    const warnings = () => exposureWarnings(parseOptions(SERVE_OPTIONS, { database: `file:${path}` }), 1_000)
    const modes = (ofFolder: number, ofDatabase: number, ofLog: number) => {
      chmodSync(folder, ofFolder)
      chmodSync(path, ofDatabase)
      chmodSync(`${path}-wal`, ofLog)
    }
    modes(0o755, 0o644, 0o600)
    expect(warnings()).toEqual([expect.stringMatching(/can read the database.*chmod 600 \S+restored\.db$/)])
    modes(0o711, 0o600, 0o644)
    expect(warnings()).toEqual([expect.stringMatching(/chmod 600 \S+restored\.db-wal$/)])
    for (const [ofFolder, ofDatabase] of [
      [0o755, 0o600],
      [0o755, 0o640],
      [0o700, 0o644],
      [0o750, 0o644],
    ] as const) {
      modes(ofFolder, ofDatabase, ofDatabase)
      expect(warnings()).toEqual([])
    }
    const warningsOf = (name: string) =>
      exposureWarnings(parseOptions(SERVE_OPTIONS, { database: `file:${join(folder, name)}` }), 1_000)
    expect(warningsOf('missing.db')).toEqual([])
    mkdirSync(join(folder, 'inner'))
    writeFileSync(join(folder, 'inner/restored.db'), '')
    for (const name of ['inner', 'inner/restored.db']) chmodSync(join(folder, name), 0o755)
    chmodSync(folder, 0o755)
    expect(warningsOf('inner/restored.db')).toHaveLength(1)
    // Whatever is no file is refused, with a sentence of its own.
    expect(warningsOf('inner')).toEqual([])
    chmodSync(folder, 0o700)
    expect(warningsOf('inner/restored.db')).toEqual([])
  })
})

test('the guard "none" opens no session, and lets open sessions continue', async () => {
  const databasePath = (await startGateway()).databasePath
  const before = await startGateway({ databasePath })
  const { refreshToken } = await before.login(ANA)
  const gateway = await startGateway({ databasePath, createGuard: guardsOf(['none'], OPTIONS) })
  const refused = await gateway.send('POST', '/login', JSON.stringify({ email: ANA }))
  expect([refused.status, refused.json().code]).toEqual([403, 'LOGIN_REFUSED'])
  expect((await gateway.send('POST', '/token', JSON.stringify({ refreshToken }))).status).toBe(200)
  expect((await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken }))).status).toBe(200)
})

describe('several guards', () => {
  const attempt = { caller: callerWith(), email: ANA, code: null }
  const asked: string[] = []

  function guard(name: string, decision: ReturnType<LoginGuard['decide']>, charges = false): LoginGuard {
    return {
      name,
      decide() {
        asked.push(name)
        return decision
      },
      chargesLimits: () => charges,
    }
  }

  const passing = guard('passing', pass('no reason', null))
  const refusing = guard('refusing', refuse('a reason', 'a remedy'))
  const admitting = guard('admitting', { outcome: 'admitted', email: 'other@example.com' }, true)

  test.each([
    [[passing, admitting, refusing], 'admitted', ['passing', 'admitting']],
    [[passing, refusing, admitting], 'refused', ['passing', 'refusing']],
    [[passing, passing], 'passed', ['passing', 'passing']],
    [[admitting], 'admitted', ['admitting']],
    [[], 'refused', []],
  ])('are asked in order until one decides: row %#', async (guards, outcome, names) => {
    asked.length = 0
    expect((await createGuardList(guards).decide(attempt)).outcome).toBe(outcome)
    expect(asked).toEqual(names)
  })

  test('share one name, and the first guard, which sees every attempt, decides if limits are charged', () => {
    const both = createGuardList([admitting, passing])
    expect([both.name, both.chargesLimits?.(attempt.caller)]).toEqual(['admitting,passing', true])
    expect(createGuardList([passing, admitting]).chargesLimits?.(attempt.caller)).toBe(false)
  })

  test('refuse a login that every one of them passes on', async () => {
    const gateway = await startGateway({ createGuard: async () => createGuardList([passing, passing]) })
    const answer = await gateway.send('POST', '/login', JSON.stringify({ email: ANA }))
    expect([answer.status, answer.json().code]).toEqual([403, 'LOGIN_REFUSED'])
  })
})
