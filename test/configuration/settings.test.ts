// Tests every option of every command: where its value comes from, which source wins, what is refused, and what is
// never shown.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { createProgram } from '../../src/cli/command-line.ts'
import { choicesOf } from '../../src/cli/completion/choices.ts'
import { createDescribedCommands } from '../../src/cli/configuration/described-commands.ts'
import { environmentName, longName, type OptionRow } from '../../src/cli/options/option.ts'
import { type Finished, runHere, serveForTest } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Almost every option accepts one of these. */
const SAMPLES = [
  '7',
  '30',
  'true',
  'x',
  '30d',
  '2026-01-31',
  'file:x',
  'postgres://h/d',
  'smtps://h:465',
  'https://h',
  '/x',
]
const MORE_SAMPLES = [
  '10.0.0.0/8',
  'a@example.com',
  'example.com',
  '1048577',
  'local',
  'login',
  'EdDSA',
  '*=2027-01-31',
  '*=https://h',
  '*=2027-01-31/1h',
]
const PASSWORD = 'hunter2'
const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

/** The commands with their options, without --config, which a file cannot contain. */
const COMMANDS = commandsOfProgram()

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.each(COMMANDS)('$name', ({ name, rows }) => {
  test('takes each option from a flag, else the environment, else the file, else its default', async () => {
    const values = rows.flatMap((row) => {
      const sample = sampleOf(row)
      return sample === null ? [] : { row, option: longName(row), sample }
    })
    expect(values.length).toBeGreaterThan(rows.length * 0.9)
    const path = write(
      `${values.map(({ option, sample }) => `${option}: ${JSON.stringify(sample)}`).join('\n')}\n`,
      name,
    )
    const byDefault = await print([...words(name), ...required(rows)])
    const byFile = await print([...words(name), '--config', path])
    for (const { row, sample } of values) vi.stubEnv(environmentName(row), sample)
    const byEnvironment = await print([...words(name), '--config', path])
    const given = values.filter(({ row }) => row.isEnvironmentOnly !== true)
    const flags = given.flatMap(({ row, option, sample }) =>
      isSwitch(row) ? [`--${option}`] : [`--${option}`, sample],
    )
    const byFlag = await print([...words(name), '--config', path, ...flags])
    for (const [index, { row, option }] of values.entries()) {
      const isGiven = row.isEnvironmentOnly !== true
      if (!isRequired(row)) {
        expect(byDefault.get(option)?.from, option).toBe(row.default === undefined ? undefined : 'default')
      }
      expect(byFile.get(option)?.from, option).toBe(`file ${path}:${index + 1 + words(name).length}`)
      expect(byEnvironment.get(option)?.from, option).toBe(`environment ${environmentName(row)}`)
      expect(byFlag.get(option)?.from, option).toBe(
        isGiven ? `flag --${option}` : `environment ${environmentName(row)}`,
      )
    }
  })

  test('prints its configuration as a file that configures the same', async () => {
    const isHidden = (row: OptionRow) => row.isSecret === true || row.isEnvironmentOnly === true
    const flags = rows.flatMap((row) => {
      const sample = isHidden(row) ? null : sampleOf(row)
      if (sample === null) return []
      return isSwitch(row) ? [`--${longName(row)}`] : [`--${longName(row)}`, sample]
    })
    for (const given of [flags, required(rows)]) {
      const printed = await runHere(['config', 'print', ...words(name), ...given])
      const again = await runHere(['config', 'print', ...words(name), '--config', write(printed.stdout)])
      expect([again.exitCode, again.stderr]).toEqual([0, ''])
      expect(parse(again.stdout, { schema: 'failsafe' })).toEqual(parse(printed.stdout, { schema: 'failsafe' }))
    }
  })

  test('shows no secret in a right or a wrong value', async () => {
    for (const secret of [`u:${PASSWORD}@h/d`, `u:a@b/${PASSWORD}@h/d`, `h/d?password=${PASSWORD}`]) {
      const url = `postgres://${secret}`
      const [right, wrong] = [true, false].map((isRight) =>
        rows.filter((row) => row.schema.safeParse(url).success === isRight),
      )
      for (const some of [right ?? [], wrong ?? []].filter((each) => each.length > 0)) {
        const text = some.map((row) => `${longName(row)}: ${JSON.stringify(url)}\n`).join('')
        const others = required(rows.filter((row) => !some.includes(row)))
        const printed = await runHere(['config', 'print', ...words(name), '--config', write(text, name), ...others])
        expect(printed.exitCode).toBe(some === right ? 0 : 2)
        for (const row of some) expect(printed.stdout + printed.stderr).toContain(`${longName(row)}: `)
        expect(printed.stdout + printed.stderr).not.toContain(PASSWORD)
      }
    }
  })
})

test('an option named like a secret is hidden, unless it names a file, a duration, or a public value', () => {
  const named = COMMANDS.flatMap(({ rows }) => rows).filter(
    (row) => /secret|password|token|key|credential/.test(longName(row)) && !isAboutSecrets(row),
  )
  expect(named.map(longName)).toEqual(expect.arrayContaining(['assertion-secret', 'key-encryption-key']))
  expect(named.filter(({ isSecret }) => isSecret !== true).map(longName)).toEqual([])
})

test('no query parameter of a web address is printed, whatever its name', async () => {
  const path = write('serve:\n  assertion-keys: https://keys.example/jwks.json?sv=2024&sig=hunter2&x=hunter3\n')
  const { stdout } = await runHere(['config', 'print', '--config', path])
  expect(stdout).toContain('https://keys.example/jwks.json?sv=[hidden]&sig=[hidden]&x=[hidden]')
  expect(stdout).not.toContain('hunter')
})

test('config print writes a configuration file that configures the same', async () => {
  const path = write(
    'serve:\n  cors-origin: [https://a.example, "https://b.example"]\n  mail-subject: "a: #b"\nlock-timeout: 7\n',
  )
  const { stdout } = await runHere(['config', 'print', '--config', path, '--no-demo'])
  const printed = parse(stdout, { schema: 'failsafe' })
  expect(printed).toMatchObject({
    'cors-origin': 'https://a.example,https://b.example',
    'mail-subject': 'a: #b',
    'no-demo': 'true',
  })
  const again = await runHere(['config', 'print', '--config', write(stdout)])
  expect(again.exitCode).toBe(0)
  expect(parse(again.stdout, { schema: 'failsafe' })).toEqual(printed)
})

test('an option with different meanings is printed under its own command', async () => {
  const move = await runHere(['config', 'print', 'move', '--from', 'file:a.db'])
  expect(move.stdout).toMatch(/^move:\n {2}from: file:a\.db +# flag --from\n# {3}to: +# not set$/m)
  const sessions = await runHere(['config', 'print', 'sessions', 'list'])
  expect(sessions.stdout).toMatch(/^sessions:\n {2}list:\n# {5}email: +# not set$/m)
})

test('a gateway serves as its file says, and ignores the table of another command', async () => {
  const path = write('serve:\n  base-path: /from-file\n  no-demo: true\nimport:\n  replace: true\nlog-level: silent\n')
  const { url, stdout } = await serveForTest(['--config', path], { cwd: temporaryDirectory() })
  expect((await fetch(`${url}/from-file/readyz`)).status).toBe(200)
  expect(stdout()).not.toContain('demo')
})

test('the file in the guide is a valid configuration', async () => {
  const guide = readFileSync(new URL('../../docs/guide/configuration.md', import.meta.url), 'utf8')
  const shown = /^```yaml\n(.*?)^```$/ms.exec(guide)?.[1] ?? ''
  const printed = await print(['keys', 'rotate', '--config', write(shown)])
  expect(printed.get('sign-after')?.value).toBe('3600')
  expect(printed.get('lock-timeout')?.value).toBe('10000')
  const served = await print(['--config', write(shown)])
  expect(served.get('cors-origin')?.value).toBe('https://app.example.com,https://*.example.org')
})

test('every mistake in flags, environment and file is named at once, with its place', async () => {
  const path = write(
    [
      'databse: file:x', // line 1
      'to: postgres://h/d',
      'log-level: loud',
      'serve:',
      '  prot: 4010', // line 5
      '  port: 99999',
      '  host: {a: b}',
      'srve:',
      '  port: 1',
      'keys:', // line 10
      '  rotat: {sign-after: 1}',
      'import:',
      '  sign-after: 3',
      'ledgr:', // line 14
      'exports:',
      '  prun:',
      '',
    ].join('\n'),
  )
  vi.stubEnv('WORKSPACE_GATEWAY_LOGIN_GAURD', 'none')
  vi.stubEnv('WORKSPACE_GATEWAY_BODY_LIMIT', 'many')
  vi.stubEnv('WORKSPACE_GATEWAY_SERVICE_HOST', '10.0.0.1')
  vi.stubEnv('WORKSPACE_GATEWAY_PORT_4000_TCP_ADDR', '10.0.0.1')
  vi.stubEnv('WORKSPACE_GATEWAY_POSTGRESQL_PORT', 'tcp://10.0.0.1:5432')
  vi.stubEnv('WORKSPACE_GATEWAY_ADMIN_PORT', 'tcp://10.0.0.1:9464')
  const { exitCode, stdout, stderr } = await runHere([
    ...['serve', '--config', path, '--colour', 'red', '--cors-orgin=x', '--base-path', 'x'],
  ])
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr.split('\n')).toEqual([
    '--colour: serve does not have this option',
    '--cors-orgin: serve does not have this option; did you mean --cors-origin?',
    `${path}:6: port: must be at most 65535`,
    '--base-path (WORKSPACE_GATEWAY_BASE_PATH): must be / or like /v1',
    `${path}:3: log-level: must be debug, info, warn, error or silent`,
    '--body-limit (WORKSPACE_GATEWAY_BODY_LIMIT): must be a whole number',
    'WORKSPACE_GATEWAY_LOGIN_GAURD: no option has this variable; did you mean WORKSPACE_GATEWAY_LOGIN_GUARD?',
    `${path}:1: databse: no command has this option; did you mean database?`,
    expect.stringMatching(
      /:2: to: has a different meaning for each of import, move, .*: put it under the name of one of them$/,
    ),
    `${path}:5: prot: serve does not have this option; did you mean port?`,
    `${path}:7: host: must be a value, or a list of values`,
    `${path}:8: srve: there is no such command; did you mean serve?`,
    `${path}:11: rotat: there is no such command; did you mean rotate?`,
    `${path}:13: sign-after: import does not have this option`,
    `${path}:14: ledgr: no command has this option; did you mean ledger?`,
    `${path}:16: prun: exports does not have this option; did you mean prune?`,
    '',
  ])
})

test('a base path that no request can have is refused', async () => {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  const checked = (path: string) => runHere(['config', 'check', '--database', database, '--base-path', path])
  for (const path of [
    '//',
    '///',
    '//v1',
    '/v1//',
    '/v1//x',
    '/v1/../x',
    '/..',
    '/.',
    '/./v1',
    '/v1/.',
    '/v1/../',
    '/a b',
    'v1',
    '',
  ]) {
    const { exitCode, stdout, stderr } = await checked(path)
    expect([path, exitCode, stdout]).toEqual([path, 2, ''])
    expect(stderr).toMatch(/^--base-path\b.*: must be \/ or like \/v1$/m)
  }
  for (const path of ['/', '/v1', '/v1/', '/v1/x', '/v1.0', '/.well', '/...', '/v1/..x', '/~me/a_b-c']) {
    expect([path, (await checked(path)).exitCode]).toEqual([path, 0])
  }
})

test('every command refuses an invalid email or domain in the same words', async () => {
  const said = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runHere([...args, '--database', 'file:./missing.db'])
    return [exitCode, stdout, stderr.replace(/^--([a-z-]+) \(WORKSPACE_GATEWAY_[A-Z_]+\): /, '$1: ')]
  }
  for (const command of ['dump', 'audit', 'sessions list', 'sessions revoke', 'exports prune --keep 1']) {
    expect(await said(...command.split(' '), '--email', 'ana'), command).toEqual([
      2,
      '',
      'email: must be an email address\n',
    ])
  }
  const mail = await said('config', 'check', '--mail-domains', 'Example.com,a_b.com')
  expect(mail).toEqual([2, '', 'mail-domains: a_b.com is not a domain\n'])
  const client = await said('clients', 'add', 'billing', '--email-domains', 'a_b.com,*')
  expect(client).toEqual([2, '', 'email-domains: a_b.com is not a domain\n'])
})

test('every option explains a wrong value in its own words', () => {
  const said = COMMANDS.flatMap(({ name, rows }) =>
    rows.flatMap((row) =>
      (row.schema.safeParse('\0').error?.issues ?? []).map(({ message }) => `${name} --${longName(row)}: ${message}`),
    ),
  )
  expect(said.length).toBeGreaterThan(COMMANDS.length)
  expect(said.filter((text) => /: (?:Invalid|Expected|Too)/.test(text))).toEqual([])
})

test('every option is read by code outside its table', () => {
  const source = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(SOURCE, file), 'utf8'))
    .join('\n')
  // A name before a brace is the row of an option, not a use of it.
  const used = new Set(source.match(/\b\w+\b(?!: \{)/g))
  const names = new Set(COMMANDS.flatMap(({ rows }) => rows.map(longName)))
  const unread = [...names].filter(
    (name) => !used.has(name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())),
  )
  expect(unread, 'pass these on: CONTRIBUTING.md says where').toEqual([])
})

describe('an empty value', () => {
  test('is refused for --mail-domains, because it would stand for all domains', async () => {
    const path = write('serve:\n  mail-domains: example.com\n')
    const message = 'must name a domain, or be left out for all\n'
    const checked = (...args: string[]) => runHere(['config', 'check', '--config', path, ...args])
    for (const value of ['', ' ', ',']) {
      const said = `--mail-domains (WORKSPACE_GATEWAY_MAIL_DOMAINS): ${message}`
      expect(await checked('--mail-domains', value)).toMatchObject({ exitCode: 2, stdout: '', stderr: said })
      vi.stubEnv('WORKSPACE_GATEWAY_MAIL_DOMAINS', value)
      expect(await checked()).toMatchObject({ exitCode: 2, stdout: '', stderr: said })
      vi.unstubAllEnvs()
    }
    const empty = write('serve:\n  mail-domains:\n')
    const said = `${empty}:2: mail-domains: ${message}`
    expect(await runHere(['config', 'check', '--config', empty])).toMatchObject({ exitCode: 2, stderr: said })
  })

  test('is refused by every option, except switches and lists that are empty by default', () => {
    const rows = COMMANDS.flatMap(({ rows }) => rows)
    const taken = rows.filter((row) => row.flags.includes(' <') && row.schema.safeParse('').success)
    expect([...new Set(taken.map(longName))].toSorted()).toEqual([
      'assertion-audience',
      // The guard requires a long one.
      'assertion-secret',
      'brownout',
      'cors-origin',
      'deprecated',
      'deprecation-link',
      'sunset',
      'trusted-proxy',
    ])
  })
})

test('of a flag with a list, every occurrence counts, and together they replace what else is set', async () => {
  vi.stubEnv('WORKSPACE_GATEWAY_TRUSTED_PROXY', '192.0.2.1')
  const proxies = ['--trusted-proxy', '10.0.0.1', '--trusted-proxy=10.0.0.2,10.0.0.3']
  const printed = await print([...proxies, '--login-guard', 'client', '--login-guard', 'mail'])
  expect(printed.get('trusted-proxy')?.value).toBe('10.0.0.1,10.0.0.2,10.0.0.3')
  expect(printed.get('login-guard')?.value).toBe('client,mail')
})

test.each([
  [['sessions', 'revoke', '--email', 'ana@example.com', '--email', 'ben@example.com'], '--email'],
  [['sessions', 'revoke', '--email', 'ana@example.com', '--email=ana@example.com'], '--email'],
  [['audit', '--kind', 'login', '--kind', 'logout'], '--kind'],
])('%j is an error: the command would leave out what was named first', async (args, flag) => {
  expect(await runHere(args)).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `${flag}: takes one value, and is given more than once\n`,
  })
})

test('of any other flag the last occurrence counts', async () => {
  const printed = await print(['--port', '1', '--no-demo', '--no-demo', '--port', '2'])
  expect(printed.get('port')?.value).toBe('2')
})

test('a switch names its allowed values from every source, and takes no value as a flag', async () => {
  vi.stubEnv('WORKSPACE_GATEWAY_NO_DEMO', 'yes')
  const path = write('serve:\n  proxy-protocol: yes\n')
  const { exitCode, stderr } = await runHere(['serve', '--config', path, '--read-only=true', '--demo=x'])
  expect(exitCode).toBe(2)
  expect(stderr.split('\n')).toEqual([
    '--read-only: takes no value',
    '--demo: serve does not have this option',
    '--no-demo (WORKSPACE_GATEWAY_NO_DEMO): must be true or 1, or false, 0 or empty',
    `${path}:2: proxy-protocol: must be true or 1, or false, 0 or empty`,
    '',
  ])
  for (const text of ['true', '1', 'false', '0', '']) {
    vi.stubEnv('WORKSPACE_GATEWAY_NO_DEMO', text)
    expect((await print([])).get('no-demo')?.value, text).toBe(text)
  }
})

describe('a day that does not exist', () => {
  const NO_DAYS = [
    '2026-02-31',
    '2027-02-29',
    '2027-04-31',
    '2027-13-01',
    '2027-00-10',
    '2027-01-00',
    '2027-02-30T10:00:00Z',
  ]
  const TIMES = COMMANDS.flatMap(({ name, rows }) =>
    rows.flatMap((row) => {
      const form = ['%', '*=%', '*=%/1h'].find((text) => row.schema.safeParse(text.replace('%', '2028-02-29')).success)
      const isTime = form !== undefined && !row.schema.safeParse(form.replace('%', 'x')).success
      return isTime ? { name: `${name} --${longName(row)}`, row, form } : []
    }),
  )

  test('is tried with options of serve, audit and ledger', () => {
    expect(TIMES.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'serve --deprecated',
        'serve --sunset',
        'serve --brownout',
        'audit --from',
        'ledger --to',
      ]),
    )
  })

  test.each(TIMES)('is refused by $name', ({ row, form }) => {
    const taken = NO_DAYS.filter((day) => row.schema.safeParse(form.replace('%', day)).success)
    expect(taken).toEqual([])
  })

  test('is named by the message', async () => {
    const { exitCode, stderr } = await runHere([
      ...['serve', '--sunset', '*=2027-02-30', '--deprecated', '*=2027-04-31T10:00:00Z'],
      ...['--brownout', '/exports=2027-02-30/15m'],
    ])
    expect(exitCode).toBe(2)
    expect(stderr.match(/ must be a day or a time that exists$/gm)).toHaveLength(3)
  })
})

test('a message shows the form of an address with a password, but no password', async () => {
  const wrong = await runHere(['serve', '--mail-url', `smpt://ana:${PASSWORD}@h`])
  expect(wrong).toEqual({
    exitCode: 2,
    stdout: '',
    stderr:
      '--mail-url (WORKSPACE_GATEWAY_MAIL_URL): must be smtp://USER:PASSWORD@HOST:PORT or smtps://…, special characters percent-encoded\n',
  })
  vi.stubEnv('WORKSPACE_GATEWAY_DATABASE_REPLICA', `postgres://PASSWORD:${PASSWORD}@HOST`)
  expect((await runHere(['config', 'print'])).stdout).not.toContain(PASSWORD)
})

describe('a configuration file', () => {
  test.each([
    ['a: [b\n c: "wgr_hunter2\n', /:\d+: column \d+ is not YAML: /],
    ['port: 1\nport: 2\n', /:2: column 1 is not YAML: duplicate key/],
    ['host: !hunter2 x\n', /:1: column 7 is not YAML: tag resolve failed/],
    ['a: &hunter2 1\nport: *hunter2\n', /:2: port: must be a value, or a list of values/],
    ['hunter2\n', /:1: a file must hold options, one per line, as NAME: VALUE/],
    ['port: 1\n---\nport: 2\n', /:2: a file must hold only one YAML document/],
    ['[a]: 1\n', /:1: the name of an option must be a word/],
    [
      'serve:\n  - host: hunter2\n',
      /:1: serve: a list holds values: put the options of a command below it without dashes/,
    ],
    ['serve: hunter2\n', /:1: serve: is a command: put its options below it, one per line, as NAME: VALUE/],
  ])('%j is refused with its line, and its content is not repeated', async (text, message) => {
    const { exitCode, stderr } = await runHere(['serve', '--config', write(text)])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('hunter2')
  })

  test.each([
    ['is missing', null, /^--config: cannot read .*: there is no such file$/m],
    ['is not YAML', 'from: [a\n', /:\d+: column \d+ is not YAML/],
  ])('that %s does not hide other mistakes, and causes no message about missing options', async (_, text, message) => {
    const path = text === null ? join(temporaryDirectory(), 'gateway.yaml') : write(text)
    vi.stubEnv('WORKSPACE_GATEWAY_LOCK_TIMEOUT', 'long')
    vi.stubEnv('WORKSPACE_GATEWAY_LOCK_TIMEUOT', '7')
    const { exitCode, stderr } = await runHere(['move', '--config', path, '--max-pause', '1', '--form', 'file:x'])
    expect(exitCode).toBe(2)
    const lines = stderr.trimEnd().split('\n')
    expect(lines.slice(0, 4)).toEqual([
      '--form: move does not have this option; did you mean --from?',
      '--max-pause (WORKSPACE_GATEWAY_MAX_PAUSE): must be at least 10',
      '--lock-timeout (WORKSPACE_GATEWAY_LOCK_TIMEOUT): must be a whole number',
      'WORKSPACE_GATEWAY_LOCK_TIMEUOT: no option has this variable; did you mean WORKSPACE_GATEWAY_LOCK_TIMEOUT?',
    ])
    expect(lines.slice(4).join('\n')).toMatch(message)
    expect(stderr).not.toContain('must be given')
  })

  test('that is missing or not UTF-8 is refused; one without options is accepted', async () => {
    const path = join(temporaryDirectory(), 'gateway.yaml')
    expect((await runHere(['serve', '--config', path])).stderr).toMatch(
      /^--config: cannot read .*: there is no such file$/m,
    )
    writeFileSync(path, Buffer.from([0x61, 0x3a, 0x20, 0xff]))
    expect((await runHere(['serve', '--config', path])).stderr).toMatch(/^--config: cannot read .*not UTF-8/)
    for (const nothing of ['# nothing\n', 'serve:\n  # port: 1\nkeys:\n  rotate:\n']) {
      expect(await runHere(['config', 'print', '--config', write(nothing)])).toMatchObject({ exitCode: 0, stderr: '' })
    }
  })
})

function commandsOfProgram(): readonly { readonly name: string; readonly rows: readonly OptionRow[] }[] {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const described = createDescribedCommands()
  createProgram({ ...streams, isTerminal: false, clock: Date.now }, process, () => {}, described)
  return described
    .all()
    .map(({ name, options }) => ({ name, rows: Object.values(options).filter((row) => longName(row) !== 'config') }))
}

function words(name: string): readonly string[] {
  return name.split(' ')
}

function isSwitch({ flags }: OptionRow): boolean {
  return !flags.includes('<')
}

function isRequired(row: OptionRow): boolean {
  return !row.schema.safeParse(row.default).success
}

function required(rows: readonly OptionRow[]): readonly string[] {
  return rows.filter(isRequired).flatMap((row) => [`--${longName(row)}`, sampleOf(row) ?? ''])
}

function isAboutSecrets(row: OptionRow): boolean {
  const isNumber = row.schema.safeParse('60').success && !row.schema.safeParse('x').success
  return (
    isSwitch(row) ||
    row.flags.endsWith('<path>') ||
    isNumber ||
    choicesOf(row).length > 0 ||
    KNOWN_PLAIN.has(longName(row))
  )
}

/** Options for public keys, and for their location. */
const KNOWN_PLAIN = new Set(['assertion-keys', 'assertion-secret-header'])

/** Returns a sample value: for a switch, neither off nor its default. Returns null if none fits. */
function sampleOf(row: OptionRow): string | null {
  const candidates = [...choicesOf(row), ...(isSwitch(row) ? ['true'] : []), ...SAMPLES, ...MORE_SAMPLES]
  return candidates.find((text) => row.schema.safeParse(text).success) ?? null
}

/** Writes a configuration file, for one command if it is given. */
function write(text: string, command = ''): string {
  const path = join(temporaryDirectory(), 'gateway.yaml')
  const depth = command === '' ? [] : words(command)
  const indent = (by: number) => '  '.repeat(by)
  const heads = depth.map((word, index) => `${indent(index)}${word}:\n`)
  writeFileSync(path, heads.join('') + text.replaceAll(/^(?=.)/gm, indent(depth.length)))
  return path
}

interface Printed {
  readonly value: string
  readonly from: string
}

async function print(args: readonly string[]): Promise<ReadonlyMap<string, Printed>> {
  const { exitCode, stdout, stderr }: Finished = await runHere(['config', 'print', ...args])
  expect([exitCode, stderr], args.join(' ')).toEqual([0, ''])
  const lines = stdout.matchAll(/^ *([a-z0-9-]+): (.*?) +# (\S.*)$/gm)
  return new Map([...lines].map(([, name = '', value = '', from = '']) => [name, { value, from }]))
}
