// Tests that config check says what serve would say, and that neither leaves anything behind.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { run, runHere } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const PASSWORD = 'hunter2'

const ASSERTION = [
  '--login-guard',
  'assertion',
  '--assertion-preset',
  'google-iap',
  '--assertion-audience',
  'site',
] as const

/** One header, in two spellings. */
const UNSIGNED = [
  ...['--login-guard', 'assertion', '--assertion-header-unsigned', 'X-Email'],
  ...['--assertion-secret-header', 'x-email'],
] as const

/** Each is refused by its own rule, with a message that starts like this. */
const WRONG = [
  { args: ['--port', '8080', '--admin-port', '8080'], message: '--admin-port: 8080 is also the --port of clients' },
  { args: ['--host', '0.0.0.0'], message: '--host 0.0.0.0 can be reached from other machines' },
  { args: ['--login-guard', 'mail'], message: 'login guard "mail" needs a mail server' },
  {
    args: [...UNSIGNED, '--trusted-proxy', '127.0.0.1', '--assertion-secret', 'x'.repeat(32)],
    message: 'assertion-header-unsigned and assertion-secret-header name the same header',
  },
  { args: ['--proxy-protocol'], message: '--proxy-protocol: name the proxies' },
  {
    args: ['--import-token-file', 'missing'],
    message: '--import-token-file: cannot read missing: there is no such file',
  },
  {
    args: ['--key-encryption-key-file', 'missing'],
    message: '--key-encryption-key-file: cannot read missing: there is no such file',
  },
  {
    args: [...ASSERTION, '--assertion-keys', 'missing'],
    message: 'assertion-keys: cannot read missing: there is no such file',
  },
  {
    args: [...ASSERTION, '--assertion-keys', 'package.json'],
    message: 'assertion-keys: package.json must hold a JWK set with a key, or one public key for ES256 as PEM',
  },
  {
    args: ['--shadow', 'https://old.example', '--shadow-headers', 'missing'],
    message: '--shadow-headers: cannot read missing: there is no such file',
  },
  { args: ['--shadow', 'http://old.example'], message: '--shadow: must be https://' },
  { args: ['--sunset', '/nowhere=2027-01-31'], message: '--sunset: /nowhere is not one of' },
  {
    args: ['--sunset', '/projects=2027-01-31,/exports=2027-01-31,/projects=2028-01-31'],
    message: '--sunset (WORKSPACE_GATEWAY_SUNSET): /projects is named twice',
  },
  { args: ['--database-trace-comments'], message: '--database-trace-comments: SQLite has no log of statements' },
  {
    args: ['--database-next', `postgres://ana:${PASSWORD}@db.example/w?sslmode=maybe`],
    message: 'database: sslmode must be',
  },
  {
    args: ['--database-replica', `postgres://ana:${PASSWORD}@db.example/w`],
    message: 'database-replica: only a database on PostgreSQL has replicas',
  },
  {
    args: ['--read-only', '--database-next', 'file:next.db'],
    message: '--database-next: with --read-only',
  },
  {
    args: [],
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' },
    message: 'OTEL_EXPORTER_OTLP_ENDPOINT: must be like',
  },
] as const

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.each(WRONG)('$message', ({ args, message, ...rest }) => {
  const environment: Readonly<Record<string, string>> = 'environment' in rest ? rest.environment : {}

  test.each(['config check', 'serve'])('is what %s says, and no database is made', async (command) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const path = join(temporaryDirectory(), 'workspace.db')
    const { exitCode, stdout, stderr } = await runHere([
      ...command.split(' '),
      ...['--log-level', 'silent', '--database', `file:${path}`],
      ...args,
    ])
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(stderr.startsWith(message), stderr).toBe(true)
    expect(stderr).not.toContain(PASSWORD)
    expect(existsSync(path)).toBe(false)
  })
})

test('config check accepts the port of clients for the admin port on addresses of the other family', async () => {
  const addresses = ['--host', '::1', '--admin-host', '0.0.0.0', '--port', '8080', '--admin-port', '8080']
  expect(await runHere(['config', 'check', ...addresses])).toMatchObject({ exitCode: 0, stderr: '' })
})

test('config check and serve name every mistake at once', async () => {
  const args = ['--port', '8080', '--admin-port', '8080', '--host', '0.0.0.0', '--import-token-file', 'missing']
  const sunset = [
    '--sunset',
    '/nowhere=2027-01-31',
    '--key-encryption-key-file',
    'missing',
    '--shadow',
    'http://o.example',
  ]
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  const [checked, served] = [
    await runHere(['config', 'check', '--database', database, ...args, ...sunset]),
    await runHere(['serve', '--database', database, ...args, ...sunset]),
  ]
  for (const start of ['--admin-port:', '--host ', '--import-token-file:', '--sunset:', '--key-enc', '--shadow:']) {
    expect(`\n${checked.stderr}`).toContain(`\n${start}`)
  }
  expect(checked).toEqual(served)
  expect(checked.exitCode).toBe(2)
})

describe('a configuration file with a table for serve', () => {
  const fileOf = (text: string) => {
    const path = join(temporaryDirectory(), 'gateway.yaml')
    writeFileSync(path, text)
    return path
  }

  test('is what config check examines, and it says the same as serve', async () => {
    const file = fileOf('serve:\n  port: many\n  login-guard: mail\n')
    const [checked, served] = [
      await runHere(['config', 'check', '--config', file]),
      await runHere(['serve', '--config', file]),
    ]
    expect(checked).toEqual(served)
    expect(checked.exitCode).toBe(2)
    expect(checked.stderr).toContain('gateway.yaml:2: port: must be a whole number\n')
    expect(checked.stderr).toContain('login guard "mail" needs a mail server')
  })

  test('also configures doctor and health unless they have options of their own', async () => {
    const [database, other] = ['there', 'other'].map((name) => join(temporaryDirectory(), `${name}.db`))
    const file = fileOf(`serve:\n  database: file:${database}\n  port: 1\n`)
    const saidBy = async (...args: readonly string[]) => {
      const { stdout, stderr } = await runHere([...args, '--config', file])
      return stdout + stderr
    }
    expect(await saidBy('doctor', '--look', 'inside')).toContain(`${database}`)
    expect(await saidBy('doctor', '--look', 'inside', '--database', `file:${other}`)).not.toContain(`${database}`)
    expect(await saidBy('health')).toContain('127.0.0.1:1')
    writeFileSync(file, 'serve:\n  port: 1\nhealth:\n  port: 2\n')
    expect(await saidBy('health')).toContain('127.0.0.1:2')
  })
})

describe('beside an unreadable value', () => {
  const PORT = '--port (WORKSPACE_GATEWAY_PORT): must be a whole number\n'
  const checkBoth = async (...args: readonly string[]) => {
    const database = join(temporaryDirectory(), 'workspace.db')
    const [checked, served] = [
      await runHere(['config', 'check', '--database', `file:${database}`, ...args]),
      await runHere(['serve', '--database', `file:${database}`, ...args]),
    ]
    expect(checked).toEqual(served)
    expect(checked.exitCode).toBe(2)
    expect(existsSync(database)).toBe(false)
    return checked.stderr
  }

  test.each(WRONG.filter(({ args }) => !args.some((arg) => arg === '--port' || arg === '--database-next')))(
    '$message is reported too',
    async ({ args, message, ...rest }) => {
      const environment: Readonly<Record<string, string>> = 'environment' in rest ? rest.environment : {}
      for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
      const said = await checkBoth('--port', 'abc', ...args)
      expect(said.startsWith(`${PORT}${message}`), said).toBe(true)
    },
  )

  test('a rule that needs the value is skipped, and no other rule', async () => {
    // The port of clients, the mail server, and the dates of the routes are not known.
    expect(await checkBoth('--port', 'abc', '--admin-port', '8080')).toBe(PORT)
    const said = await checkBoth(
      ...['--login-guard', 'mail', '--mail-url', 'nowhere', '--mail-from', 'a@example.com'],
      ...['--sunset', '/nowhere=2027-01-31', '--brownout', 'soon', '--proxy-protocol'],
    )
    const flags = said.split('\n').map((line) => /^--[a-z-]+/.exec(line)?.[0])
    expect(flags).toEqual(['--mail-url', '--brownout', '--sunset', '--proxy-protocol', undefined])
  })

  test('an option that an unreadable file may contain is not reported as missing', async () => {
    const said = await checkBoth('--config', 'missing.yaml', '--login-guard', 'mail', '--sunset', '/nowhere=2027-01-31')
    expect(said.split('\n').map((line) => line.split(' is not one of ')[0])).toEqual([
      expect.stringContaining('--config: cannot read missing.yaml'),
      '--sunset: /nowhere',
      '',
    ])
  })
})

test('config check accepts a good configuration, also from a file, and prints the warnings of a start', async () => {
  const directory = temporaryDirectory()
  const file = join(directory, 'gateway.yaml')
  const database = join(directory, 'workspace.db')
  writeFileSync(file, `database: file:${database}\nlogin-guard: open\n`)
  expect(await run(['config', 'check', '--config', file])).toEqual({
    exitCode: 0,
    stdout: 'the configuration is valid\n',
    stderr: expect.stringMatching(/^warning: login guard "open": anyone who can reach this port .+\n$/),
  })
  expect(existsSync(database)).toBe(false)
  expect((await runHere(['config', 'check'])).stderr).toBe('')
})

test('config check names wrong options, as every command does', async () => {
  const { exitCode, stderr } = await runHere(['config', 'check', '--port', 'x', '--prot', '1'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('--port (WORKSPACE_GATEWAY_PORT): must be a whole number')
  expect(stderr).toContain('--prot')
})
