// Removal records (`"removed":true`), and --replace, which removes what the input does not contain.
import { execFileSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { runCommandLine } from '../src/cli/command-line.ts'
import { createExportDigest } from '../src/import-export/export-digest.ts'
import { runHere } from './support/command-line.ts'
import { createWorkspace, EVE, elementLine, splitExportHead } from './support/import-workspace.ts'
import { createdDatabases, POSTGRES_URL } from './support/postgres.ts'
import { PROGRAM } from './support/program.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

const removal = (kind: string, email: string, members: object = {}) =>
  `${JSON.stringify({ kind, email, ...members, removed: true })}\n`
const project = (id: string, ref: string, email = ANA) =>
  documentLine('project', email, `{"id":"${id}","ref":"${ref}"}`)

/** The lines of an import, and the number of the one that is refused; null if all are imported. */
type BadLine = readonly [lines: readonly string[], badLine: number | null]

/** Imports each into a workspace with the projects `a` of the reference `x` and `b` of `y`. */
async function expectBadLines(workspace: ReturnType<typeof createWorkspace>, cases: readonly BadLine[]): Promise<void> {
  for (const [lines, badLine] of cases) {
    await workspace.load(removal('user', ANA) + project('a', 'x') + project('b', 'y'))
    const { exitCode, stderr } = await workspace.importText(lines.join(''))
    expect([exitCode, stderr.split(': ')[0]], lines.join('')).toEqual(
      badLine === null ? [0, ''] : [1, `stdin:${badLine}`],
    )
  }
}

describe('on SQLite', () => describeRemovals(async () => createWorkspace()))

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => {
  const createdDatabase = createdDatabases()
  describeRemovals(async () => createWorkspace(runHere, await createdDatabase()))
})

function describeRemovals(workspaceHere: () => Promise<ReturnType<typeof createWorkspace>>): void {
  test('removal records remove what they name and are counted', async () => {
    const workspace = await workspaceHere()
    await workspace.load(SMALL_WORLD)
    const digest = createExportDigest()
    digest.add('{"path":"ben.txt"}')
    const { stdout, stderr } = await workspace.importText(
      [
        removal('export', ANA, { r: 'site', createdAt: '2026-02-01T01:00:00+01:00' }),
        removal('template', ANA, { id: 't1' }),
        removal('uiLibrary', ANA, { id: 'nothing' }),
        removal('export', BEN, { digest: digest.finish().digest }),
        documentLine('uiLibrary', ANA, '{"id":12345678901234567890}'),
        removal('uiLibrary', ANA, { id: 0 }).replace('"id":0', '"id":12345678901234567890'),
      ].join(''),
    )
    expect([stdout, stderr]).toEqual([expect.stringContaining(': 1 added, 0 replaced, 1 unchanged, 4 removed ('), ''])
    const dump = await workspace.dump()
    expect(dump).toContain('old.html')
    for (const gone of ['new.html', 't1', 'ben.txt', '"data":{"id":1']) expect(dump, gone).not.toContain(gone)
  })

  test('a removal record removes a user with or without data, and the user may be imported again', async () => {
    const workspace = await workspaceHere()
    await workspace.load(SMALL_WORLD)
    await workspace.load(
      `${removal('user', BEN)}${removal('user', 'nobody@example.com')}{"kind":"user","email":"${EVE}"}\n`,
    )
    expect(await workspace.dump()).not.toContain(BEN)
    expect(await workspace.dump()).toContain(`{"kind":"user","email":"${EVE}"}\n`)
    await workspace.load(project('p', 'secret', BEN) + removal('user', EVE))
    expect(await workspace.dump()).not.toMatch(/ben\.txt|eve@/)
  })

  test('removing a project removes its exports, and a new project with the same reference starts without exports', async () => {
    const workspace = await workspaceHere()
    await workspace.load(SMALL_WORLD)
    await workspace.load(removal('project', ANA, { id: 'p1' }) + project('p9', 'site'))
    expect(await workspace.dump()).not.toMatch(/html/)
    await workspace.load(exportLine(ANA, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"back.html"'] }))
    expect(await workspace.dump()).toMatch(/back\.html/)
  })

  test('a removal frees a reference for the lines after it, and only for those', async () => {
    const workspace = await workspaceHere()
    await workspace.load(project('a', 'x') + project('b', 'y') + project('a', 'x', BEN))
    const cases: readonly BadLine[] = [
      [[removal('project', ANA, { id: 'a' }), project('c', 'x')], null],
      [[project('c', 'x'), removal('project', ANA, { id: 'a' })], 1],
      [[removal('project', BEN, { id: 'a' }), project('c', 'x')], 2],
      [[removal('template', ANA, { id: 'a' }), project('c', 'x')], 2],
      [[removal('user', ANA), project('c', 'x'), project('d', 'y')], null],
      [[project('n', 'new'), removal('project', ANA, { id: 'n' }), project('m', 'new')], null],
      [[project('n', 'new'), removal('project', ANA, { id: 'm' }), project('m', 'new')], 3],
      [[removal('project', ANA, { id: 'a' }), project('c', 'x'), project('a', 'x')], 3],
      [
        [
          removal('project', ANA, { id: 'a' }),
          project('c', 'x'),
          removal('project', ANA, { id: 'c' }),
          project('a', 'x'),
          removal('user', ANA),
          project('b', 'x'),
        ],
        null,
      ],
    ]
    await expectBadLines(workspace, cases)
  })

  test('a project that changes its reference frees the old one for the lines after it, and only for those', async () => {
    const workspace = await workspaceHere()
    const cases: readonly BadLine[] = [
      [[project('a', 'x-old'), project('c', 'x')], null],
      [[project('c', 'x'), project('a', 'x-old')], 1],
      [[project('a', 'x-old', BEN), project('c', 'x')], 2],
      [[project('a', 'x-old'), project('a', 'x'), project('c', 'x')], 3],
      [[project('a', 'x-old'), project('c', 'x'), project('a', 'x')], 3],
      [[project('n', 'new'), project('n', 'newer'), project('m', 'new'), project('n', 'x')], 4],
      [[project('n', 'new'), project('n', 'newer'), project('n', 'new'), project('m', 'new')], 4],
      [[project('a', 'free'), project('b', 'x'), project('a', 'y')], null],
    ]
    await expectBadLines(workspace, cases)
    expect(await workspace.dump()).toBe(project('a', 'y') + project('b', 'x'))
    const path = workspace.write('renamed.ndjson', project('a', 'z') + project('a', 'new') + project('c', 'z'))
    expect(await workspace.import(path, '--replace')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await workspace.dump()).toBe(project('a', 'new') + project('c', 'z'))
  })

  test('--keep-going reserves no reference for a project that is not imported', async () => {
    const workspace = await workspaceHere()
    await workspace.load(project('a', 'x'))
    const path = workspace.write(
      'held.ndjson',
      project('c', 'x') + project('a', 'x') + project('a', 'y') + project('d', 'x'),
    )
    const { stdout, stderr } = await workspace.import(path, '--keep-going')
    expect(stdout).toContain(': 1 added, 1 replaced, 1 unchanged (')
    expect(stderr).toContain(`${path}:1: reference "x" is used by another stored project of this user, "a"\n1 line was`)
    expect(await workspace.dump()).toBe(project('a', 'y') + project('d', 'x'))
  })

  test('--replace makes each user in the input equal to the input, and leaves other users alone', async () => {
    const workspace = await workspaceHere()
    await workspace.load(SMALL_WORLD)
    const wanted =
      project('p2', 'app') +
      documentLine('project', ANA, '{"id":"p1","ref":"site","name":"Site","tags":["a","b"],"n":12345678901234567890}') +
      exportLine(ANA, { r: 'site', createdAt: '2026-02-01T00:00:00Z', elements: ['{"path":"new.html"}', '1.0'] })
    const path = workspace.write('wanted.ndjson', `${wanted}{"kind":"user","email":"${EVE}"}\n`)
    const before = await workspace.dump()
    const dry = await workspace.import(path, '--replace', '--dry-run', '--verbose')
    expect(dry.stdout).toContain(`${ANA}: 0 added, 2 replaced, 1 unchanged, 3 removed\n`)
    expect(dry.stdout).toMatch(/^would import .*: 1 added, 2 replaced, 1 unchanged, 3 removed \(/m)
    expect(dry.stdout).not.toContain(BEN)
    expect(await workspace.dump()).toBe(before)
    const done = await workspace.import(path, '--replace')
    expect(done.stdout).toMatch(/^imported .*: 1 added, 2 replaced, 1 unchanged, 3 removed \(/)
    const ben = before.split('\n').filter((line) => line.includes(BEN))
    expect(await workspace.dump()).toBe(`${wanted}${ben.join('\n')}\n{"kind":"user","email":"${EVE}"}\n`)
    expect((await workspace.import(path, '--replace')).stdout).toContain(
      ': 0 added, 0 replaced, 4 unchanged, 0 removed (',
    )
  })

  test('--replace removes nothing when any line is bad, and frees the references of what it removes', async () => {
    const workspace = await workspaceHere()
    await workspace.load(project('a', 'x'))
    const before = await workspace.dump()
    for (const bad of ['{"kind":"user"}\n', removal('user', BEN)]) {
      const path = workspace.write('bad.ndjson', project('c', 'x') + bad)
      const { exitCode, stderr } = await workspace.import(path, '--replace')
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/:2: .*\n1 bad line: nothing was imported\n$/)])
      expect(await workspace.dump()).toBe(before)
    }
    const good = workspace.write('good.ndjson', project('c', 'x'))
    expect((await workspace.import(good, '--replace')).exitCode).toBe(0)
    expect(await workspace.dump()).toBe(project('c', 'x'))
  })

  test('a split export whose user is removed before its last element is a bad line', async () => {
    const workspace = await workspaceHere()
    const head = splitExportHead('r', '2026-01-01T00:00:00Z', 'one')
    const { exitCode, stderr } = await workspace.importText(
      head + elementLine('one', '1') + removal('user', EVE) + elementLine('one', '2'),
    )
    expect(exitCode).toBe(1)
    expect(stderr).toContain('stdin:4: the user of its export is removed by line 3\n')
    await workspace.load(head + elementLine('one', '1') + removal('user', EVE) + project('p', 'r', EVE))
    expect(await workspace.dump()).toBe(project('p', 'r', EVE))
  })

  const MADE = '2026-01-01T00:00:00Z'

  test.each<[what: string, reason: string, removal: string]>([
    ['the export', 'its export', removal('export', EVE, { r: 'r', createdAt: '2026-01-01T01:00:00+01:00' })],
    [
      'an export by digest',
      'its export, or another one of the user,',
      removal('export', EVE, { digest: 'a'.repeat(64) }),
    ],
    ['a project of its user', 'a project of the user of its export', removal('project', EVE, { id: 'p' })],
  ])('removing %s between elements of a split export makes the next one a bad line', async (_, reason, between) => {
    const workspace = await workspaceHere()
    const head = splitExportHead('r', MADE, 'one')
    await workspace.load(project('p', 'r', EVE))
    const before = await workspace.dump()
    const bad = await workspace.importText(head + elementLine('one', '1') + between + elementLine('one', '2'))
    expect(bad.exitCode).toBe(1)
    expect(bad.stderr).toContain(`stdin:4: ${reason} is removed by line 3\n`)
    expect(await workspace.dump()).toBe(before)
    const after = await workspace.importText(head + elementLine('one', '1') + elementLine('one', '2') + between)
    expect([after.exitCode, after.stderr]).toEqual([0, ''])
  })

  test('removals that do not concern a split export may stand between its elements', async () => {
    const workspace = await workspaceHere()
    await workspace.load(project('p', 'r', EVE))
    const between = [
      removal('export', EVE, { r: 'r', createdAt: '2026-01-02T00:00:00Z' }),
      removal('export', EVE, { r: 'other', createdAt: MADE }),
      removal('template', EVE, { id: 't' }),
      removal('project', BEN, { id: 'p' }),
      removal('export', BEN, { r: 'r', createdAt: MADE }),
    ]
    await workspace.load(
      [splitExportHead('r', MADE, 'one'), elementLine('one', '1'), ...between, elementLine('one', '2')].join(''),
    )
    expect(await workspace.dump()).toContain('"data":[1,2]')
  })
}

/** The rows that only imports in progress have, by table. */
function stagedIn(workspace: ReturnType<typeof createWorkspace>): Readonly<Record<string, unknown>> {
  const database = new Database(workspace.path('workspace.db'), { readonly: true })
  try {
    const rowsOf = (table: string) => database.prepare(`select * from ${table}`).all()
    const tables = ['replacement', 'staged_user', 'staged_document', 'staged_export'] as const
    return Object.fromEntries(tables.map((table) => [table, rowsOf(table)]))
  } finally {
    database.close()
  }
}

const NOTHING_STAGED = { replacement: [], staged_user: [], staged_document: [], staged_export: [] }

test.each([
  ['as a dry run', ['--dry-run'], 'would import'],
  ['in the database', [], 'imported'],
])('--replace leaves nothing staged when it ends: %s', async (_, flags, outcome) => {
  const workspace = createWorkspace()
  await workspace.load(project('p9', 'before'))
  const path = workspace.write('wanted.ndjson', SMALL_WORLD)
  const { stdout } = await workspace.import(path, '--replace', ...flags)
  expect(stdout).toContain(`${outcome} ${path}: `)
  expect(stagedIn(workspace)).toEqual(NOTHING_STAGED)
})

test('a stopped --replace ends after a swap and is recorded in the audit log', async () => {
  const workspace = createWorkspace()
  const users = Array.from({ length: 200 }, (_, n) => project('p', 'r', `user-${n}@example.com`))
  const path = workspace.write('users.ndjson', users.join(''))
  const signals = new EventEmitter()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  stdout.once('data', () => signals.emit('SIGINT'))
  const told = text(stderr)
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: false, clock: Date.now }
  expect(await runCommandLine(['import', path, '--replace', '--verbose', ...workspace.flags], io, signals)).toBe(1)
  stderr.end()
  expect(await told).toBe('stopped: run it again to continue\n')
  const count = (await workspace.run('users', 'list')).stdout.trimEnd().split('\n').length
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(users.length)
  const entry = JSON.parse((await workspace.run('audit')).stdout)
  expect(entry).toMatchObject({ kind: 'import', result: 'failed', detail: 'broken off at record 200' })
  expect(stagedIn(workspace)).toEqual(NOTHING_STAGED)
  expect((await workspace.import(path, '--replace')).exitCode).toBe(0)
})

test('--replace reports in one sentence that a user was removed before that user was swapped in', async () => {
  const workspace = createWorkspace()
  const users = Array.from({ length: 200 }, (_, n) => project('p', 'r', `user-${n}@example.com`))
  const path = workspace.write('users.ndjson', users.join(''))
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  // The user that is swapped in last.
  const remove = [PROGRAM, 'users', 'remove', 'user-99@example.com', ...workspace.flags]
  stdout.once('data', () => execFileSync(process.execPath, remove))
  const told = text(stderr)
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: false, clock: Date.now }
  const args = ['import', path, '--replace', '--verbose', ...workspace.flags]
  expect(await runCommandLine(args, io, new EventEmitter())).toBe(1)
  stderr.end()
  expect(await told).toMatch(/^the staged data is gone: .*: run the import again\n$/)
  expect((await workspace.run('users', 'show', 'user-99@example.com')).exitCode).toBe(1)
})

test('--replace of one user while that of others is under way disturbs neither', async () => {
  const workspace = createWorkspace()
  const users = Array.from({ length: 200 }, (_, n) => project('p', 'r', `user-${n}@example.com`))
  const [path, other] = [
    workspace.write('users.ndjson', users.join('')),
    workspace.write('ben', project('p', 'r', BEN)),
  ]
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const replace = [PROGRAM, 'import', other, '--replace', ...workspace.flags]
  stdout.once('data', () => execFileSync(process.execPath, replace))
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: false, clock: Date.now }
  const args = ['import', path, '--replace', '--verbose', ...workspace.flags]
  expect(await runCommandLine(args, io, new EventEmitter())).toBe(0)
  expect((await workspace.run('users', 'list')).stdout.trimEnd().split('\n')).toHaveLength(users.length + 1)
  expect(stagedIn(workspace)).toEqual(NOTHING_STAGED)
})

test('an invalid removal record is reported with what is wrong', async () => {
  const workspace = createWorkspace()
  const cases: readonly (readonly [line: string, reason: string])[] = [
    ['{"kind":"project","email":"a@example.com","id":"p","removed":false}', '"removed" can only be true'],
    [
      '{"kind":"project","email":"a@example.com","removed":true,"data":{"id":1}}',
      '"removed" takes the place of "data": give only one of them',
    ],
    [
      '{"kind":"template","email":"a@example.com","removed":true}',
      '"id" must be a string that is not empty, or an integer',
    ],
    [
      '{"kind":"template","email":"a@example.com","id":1.5,"removed":true}',
      '"id" must be a string that is not empty, or an integer',
    ],
    [
      '{"kind":"export","email":"a@example.com","r":"r","removed":true}',
      'name the export with "r" and "createdAt", or with "digest"',
    ],
    [
      '{"kind":"export","email":"a@example.com","digest":"ABC","removed":true}',
      '"digest" is not a SHA-256 in lower-case hexadecimal',
    ],
    [
      '{"kind":"export","email":"a@example.com","r":"r","createdAt":"now","removed":true}',
      '"createdAt" is not an RFC 3339 date and time',
    ],
    ['{"kind":"exportElement","export":"x","removed":true}', 'an element cannot be removed: remove its export'],
    ['{"kind":"user","email":"x","removed":true}', '"email" is not a valid email address'],
  ]
  const { exitCode, stderr } = await workspace.importText(cases.map(([line]) => `${line}\n`).join(''))
  expect(exitCode).toBe(1)
  expect(stderr.split('\n').slice(0, cases.length)).toEqual(
    cases.map(([, reason], index) => `stdin:${index + 1}: ${reason}`),
  )
})

test('--replace --dry-run does not create a database', async () => {
  const workspace = createWorkspace()
  const path = workspace.write('world.ndjson', SMALL_WORLD)
  const { exitCode, stderr } = await workspace.import(path, '--replace', '--dry-run')
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('there is no database')])
  expect(existsSync(workspace.path('workspace.db'))).toBe(false)
})

test('options that do not go together are refused before anything is read', async () => {
  const workspace = createWorkspace()
  for (const options of [['--dry-run'], ['--verbose'], ['--replace', '--keep-going']]) {
    const { exitCode, stderr } = await workspace.import('https://nowhere.invalid', ...options)
    expect([exitCode, stderr], options.join(' ')).toEqual([
      2,
      expect.stringMatching(/need --replace|cannot be used with --replace/),
    ])
  }
})
