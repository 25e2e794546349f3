// Exports whose project is neither in the input nor stored: the outcome of an import reports how many there are.
import { describe, expect, test } from 'vitest'
import { runHere } from './support/command-line.ts'
import { createWorkspace, elementLine, splitExportHead, templateLines } from './support/import-workspace.ts'
import { IMPORT_BEARER, IMPORT_TOKEN, startImporting } from './support/importing-gateway.ts'
import { createdDatabases, POSTGRES_URL } from './support/postgres.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

const project = (ref: string, email = ANA) => documentLine('project', email, `{"id":"of-${ref}","ref":"${ref}"}`)
const exported = (r: string, email = ANA, day = '03') =>
  exportLine(email, { r, createdAt: `2026-01-${day}T00:00:00Z`, elements: [`"${r}"`] })
const removal = (email: string, members: object) => `${JSON.stringify({ email, ...members, removed: true })}\n`
/** Enough lines to fill more than one block. */
const APART = templateLines(0, 20_000).join('')

const CASES: readonly (readonly [what: string, input: string, options: readonly string[], orphans: number])[] = [
  ['a project before its export', project('new') + exported('new'), [], 0],
  ['a project right after its exports', exported('new') + exported('new', ANA, '04') + project('new'), [], 0],
  ['a project far after its exports', exported('new') + exported('new', ANA, '04') + APART + project('new'), [], 0],
  ['a stored project', exported('site'), [], 0],
  ['no project', exported('none') + exported('none', ANA, '04') + exported('other') + exported('site'), [], 3],
  ['no project, but one with another reference far after', exported('none') + APART + project('new'), [], 1],
  [
    'a project of somebody else',
    exported('secret') + exported('site', BEN) + project('new') + exported('new', BEN),
    [],
    3,
  ],
  ['a stored project that the input removed', removal(ANA, { kind: 'project', id: 'p1' }) + exported('site'), [], 1],
  [
    'a project that the input removed',
    project('new') + removal(ANA, { kind: 'project', id: 'of-new' }) + exported('new'),
    [],
    1,
  ],
  [
    'a project that the input removes afterwards',
    project('new') + exported('new') + removal(ANA, { kind: 'project', id: 'of-new' }),
    [],
    0,
  ],
  [
    'a project right after it that the input removes then',
    exported('new') + project('new') + removal(ANA, { kind: 'project', id: 'of-new' }),
    [],
    0,
  ],
  [
    'a project right after it that the input gives another reference then',
    exported('new') + project('new') + documentLine('project', ANA, '{"id":"of-new","ref":"newer"}'),
    [],
    0,
  ],
  [
    'the same in a replacement, which leaves the export under the first reference',
    exported('new') + project('new') + documentLine('project', ANA, '{"id":"of-new","ref":"newer"}'),
    ['--replace'],
    1,
  ],
  [
    'a project that the input removed between its exports',
    project('new') + removal(ANA, { kind: 'project', id: 'of-new' }) + exported('new') + exported('other'),
    [],
    2,
  ],
  [
    'a stored project that the input gave another reference',
    documentLine('project', ANA, '{"id":"p1","ref":"new"}') + exported('site') + exported('new'),
    [],
    1,
  ],
  [
    'a stored project that gets another reference afterwards',
    exported('site') + documentLine('project', ANA, '{"id":"p1","ref":"new"}'),
    [],
    0,
  ],
  ['a user that the input removed', removal(BEN, { kind: 'user' }) + exported('secret', BEN), [], 1],
  [
    'an export in parts',
    splitExportHead('none', '2026-01-03T00:00:00Z', 'x') + elementLine('x', '1') + elementLine('x', '2'),
    [],
    1,
  ],
  [
    'a stored project that a replacement takes away',
    project('new') + exported('new') + exported('site'),
    ['--replace'],
    1,
  ],
  ['the same in a dry run', project('new') + exported('new') + exported('site'), ['--replace', '--dry-run'], 1],
]

const inWords = (count: number) =>
  count === 0
    ? ''
    : `, ${count} ${count === 1 ? 'export whose project is' : 'exports whose projects are'} neither in the input nor stored`

/** How many exports the lines report in total; each line must name its place in the input. */
function told(stderr: string): number {
  const lines = stderr.split('\n').slice(0, -1)
  const counts = lines.map((line) => /^\S+input\.ndjson:\d+: (\d+) exports? of the reference .*$/.exec(line)?.[1])
  return counts.reduce((sum, count) => sum + Number(count), 0)
}

test('an import names the first ten references without a project, and counts the exports of the others', async () => {
  const workspace = createWorkspace()
  const others = Array.from({ length: 10 }, (_, index) => exported(`r${index}`))
  const lines = [
    exported('late'),
    exported('none'),
    project('late'),
    exported('none', ANA, '04'),
    exportLine(ANA, { r: 'a\u001b[31mb', createdAt: '2026-01-03T00:00:00Z', elements: [] }),
    ...others,
  ]
  const path = workspace.write('input.ndjson', lines.join(''))
  const { exitCode, stderr } = await workspace.import(path)
  expect(exitCode).toBe(0)
  expect(stderr.split('\n')).toEqual([
    `${path}:2: 2 exports of the reference "none", which no project of this user has`,
    `${path}:5: 1 export of the reference "a\\u001b[31mb", which no project of this user has`,
    ...Array.from(
      { length: 8 },
      (_, index) => `${path}:${6 + index}: 1 export of the reference "r${index}", which no project of this user has`,
    ),
    '… and 2 exports of other references',
    '',
  ])
})

describe('on SQLite', () => describeOrphans(async () => createWorkspace()))

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => {
  const createdDatabase = createdDatabases()
  describeOrphans(async () => createWorkspace(runHere, await createdDatabase()))
})

function describeOrphans(workspaceHere: () => Promise<ReturnType<typeof createWorkspace>>): void {
  test.each(CASES)('an import counts the exports without a project: %s', async (_, input, options, orphans) => {
    const workspace = await workspaceHere()
    await workspace.load(SMALL_WORLD)
    const { exitCode, stdout, stderr } = await workspace.import(workspace.write('input.ndjson', input), ...options)
    expect(exitCode).toBe(0)
    expect(stderr === '').toBe(orphans === 0)
    expect(told(stderr)).toBe(orphans)
    expect(stdout).toMatch(new RegExp(`(unchanged|removed)${inWords(orphans)} \\([^,]*\\)\n$`))
  })
}

test('POST /import reports exports without a project in its last event, and import --to prints them like import', async () => {
  const gateway = await startImporting()
  const { text } = await gateway.send('POST', '/import', SMALL_WORLD + exported('none'), IMPORT_BEARER)
  expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    type: 'imported',
    added: 9,
    orphanExports: 1,
    orphans: [{ line: 9, ref: 'none', exports: 1 }],
  })
  const workspace = createWorkspace()
  const [path, token] = [workspace.write('again.ndjson', exported('none')), workspace.write('token', IMPORT_TOKEN)]
  const { exitCode, stdout, stderr } = await runHere(['import', path, '--to', gateway.url, '--token-file', token])
  expect(stderr).toBe(`${path}:1: 1 export of the reference "none", which no project of this user has\n`)
  expect([exitCode, stdout]).toEqual([0, `imported ${path}: 0 added, 0 replaced, 1 unchanged${inWords(1)}\n`])
  const { accessToken } = await gateway.login(ANA)
  expect((await gateway.get('/exports?r=none', accessToken)).status).toBe(404)
  await gateway.send('POST', '/import', project('none'), IMPORT_BEARER)
  expect((await gateway.get('/exports?r=none', accessToken)).text).toBe('["none"]')
})
