// Which lines an import accepts, how it reports bad lines, and how a dump writes the data.
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { readLines } from '../src/import-export/format/lines.ts'
import { requirePlace } from '../src/import-export/format/read-record.ts'
import { toSortableUtc } from '../src/import-export/format/timestamp.ts'
import { hasMoreValues } from '../src/json-text.ts'
import { LAST_DOCUMENT_POSITION, MAX_ELEMENTS } from '../src/store/reads-contract.ts'
import { run, runHere } from './support/command-line.ts'
import { createWorkspace, EVE, elementLine, splitExportHead, templateLines } from './support/import-workspace.ts'
import { liveBytes } from './support/live-bytes.ts'
import { PROGRAM } from './support/program.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine } from './support/workspaces.ts'

describe('a timestamp', () => {
  test('sorts by its instant, whatever its time zone and fraction', () => {
    const inOrder = [
      '2026-01-01T01:00:00+02:00',
      '2025-12-31T23:30:00Z',
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00.000000001Z',
      '2026-01-01T00:00:00.05Z',
      '2026-01-01T00:00:00.5Z',
      '2026-01-01T00:00:00.6-00:00',
      '2025-12-31T20:00:01-04:00',
      '2026-06-30T23:59:60Z',
      '2026-07-01T00:00:00Z',
    ]
    const instants = inOrder.map((text) => toSortableUtc(text) ?? '')
    expect(instants.toSorted()).toEqual(instants)
    expect(new Set(instants).size).toBe(inOrder.length)
    expect(toSortableUtc('2026-01-01T02:00:00.25+01:30')).toBe('2026-01-01T00:30:00.250000000Z')
  })

  test('may be written as RFC 3339 allows, and counts to the nanosecond', () => {
    expect(toSortableUtc('2026-01-01t00:00:00.1234567899z')).toBe('2026-01-01T00:00:00.123456789Z')
    expect(toSortableUtc('2026-01-01 00:00:00Z')).toBe('2026-01-01T00:00:00.000000000Z')
    expect(toSortableUtc('0000-01-01T00:00:00Z')).toBe('0000-01-01T00:00:00.000000000Z')
    expect(toSortableUtc('9999-12-31T23:59:59Z')).toBe('9999-12-31T23:59:59.000000000Z')
  })

  test('is refused when it is not a valid date and time', () => {
    for (const text of ['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T24:00:00Z', '2026-01-01T00:00:00', 'now', ''])
      expect(toSortableUtc(text), text).toBeNull()
    // In UTC, these years have not four digits.
    for (const text of ['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'])
      expect(toSortableUtc(text), text).toBeNull()
  })
})

test('the newest export is the one created last, not the one that comes last in the file', async () => {
  const workspace = createWorkspace()
  const made = (createdAt: string) => exportLine(ANA, { r: 'p', createdAt, elements: [`"${createdAt}"`] })
  await workspace.load(
    documentLine('project', ANA, '{"id":"p"}') +
      made('2026-01-01T00:00:00.5Z') +
      made('2025-12-31T23:59:59-01:00') +
      made('2026-01-01T00:00:00.25Z') +
      made('2026-01-01T02:00:00+02:00'),
  )
  const order = [...(await workspace.dump()).matchAll(/"data":\["([^"]+)"/g)].map(([, createdAt]) => createdAt)
  expect(order).toEqual([
    '2026-01-01T02:00:00+02:00',
    '2026-01-01T00:00:00.25Z',
    '2026-01-01T00:00:00.5Z',
    '2025-12-31T23:59:59-01:00',
  ])
})

test('a line is bad when its members are ambiguous or cannot be stored', async () => {
  const workspace = createWorkspace()
  await workspace.load(documentLine('project', ANA, '{"id":"a","ref":"x"}'))
  const cases: readonly (readonly [lines: string, reason: string])[] = [
    [`{"kind":"template","email":"${ANA}","email":"${BEN}","data":{"id":1}}\n`, '1: "email" is given twice'],
    [
      documentLine('template', ANA, '{"id":"a\\u0000b"}'),
      '1: "data.id" has the character U+0000, which cannot be stored',
    ],
    [documentLine('template', ANA, '{"id":"a\\ud800"}'), '1: "data.id" is not valid Unicode'],
    [documentLine('template', ANA, `{"id":"${'a'.repeat(1_025)}"}`), '1: "data.id" is longer than 1024 characters'],
    [documentLine('template', ANA, `{"id":${'1'.repeat(1_025)}}`), '1: "data.id" is longer than 1024 characters'],
    [
      documentLine('project', ANA, '{"id":"c","ref":"a\\u0000"}'),
      '1: "data.ref" has the character U+0000, which cannot be stored',
    ],
    [
      exportLine(ANA, { r: '\0', createdAt: '2026-01-01T00:00:00Z', elements: [] }),
      '1: "r" has the character U+0000, which cannot be stored',
    ],
    [
      documentLine('template', ANA, '{"ref":""}'),
      '1: the template has no id: none of id, uuid, ref, slug, name is a string that is not empty, or an integer',
    ],
    [
      documentLine('project', ANA, '{"id":"b","ref":"x"}'),
      '1: reference "x" is used by another stored project of this user, "a"',
    ],
    [
      splitExportHead('r', '2026-01-01T00:00:00Z', 'one') + splitExportHead('s', '2026-01-01T00:00:00Z', 'one'),
      '2: an earlier line has an export with the id "one"',
    ],
  ]
  for (const [lines, reason] of cases) {
    const { exitCode, stderr } = await workspace.importText(lines)
    expect([exitCode, stderr.split('\n')[0]]).toEqual([1, `stdin:${reason}`])
  }
  expect(await workspace.dump()).not.toMatch(/template|"b"/)
})

test.each([
  ['id', '{"id":"","uuid":1.0,"ref":"named"}', '{"id":"named","later":1}'],
  ['id', '{"id":1.5,"uuid":12345678901234567890}', '{"uuid":12345678901234567890,"later":1}'],
  ['ref', '{"id":"p","ref":"","reference":7}', '{"id":"p","ref":"7","later":1}'],
])('an empty string or a non-integer number is no %s, as the help says: %s', async (field, first, second) => {
  const workspace = createWorkspace()
  const kind = field === 'id' ? 'template' : 'project'
  await workspace.load(documentLine(kind, ANA, first) + documentLine(kind, ANA, second))
  expect(await workspace.dump()).toBe(documentLine(kind, ANA, second))
  const { stdout } = await runHere(['import', '--help'])
  const described = new RegExp(`--${field}-fields.*?\\(default`, 's').exec(stdout)?.[0].replace(/\s+/g, ' ')
  expect(described).toContain('with a non-empty string or an integer')
})

test('when a document has its id member twice, the last one counts', async () => {
  const workspace = createWorkspace()
  await workspace.load(
    documentLine('template', ANA, '{"id":1,"id":2}') + documentLine('template', ANA, '{"id":2,"new":1}'),
  )
  expect(await workspace.dump()).toBe(documentLine('template', ANA, '{"id":2,"new":1}'))
})

test('an import names a hundred bad lines and counts the rest', async () => {
  const workspace = createWorkspace()
  const { stderr } = await workspace.importText('{}\n'.repeat(150))
  expect(stderr.match(/^stdin:\d+: /gm)).toHaveLength(100)
  expect(stderr).toContain('\n… and 50 more\n150 bad lines: nothing was imported')
})

test('an import names the first bad lines in order, even when one is found to be bad only at the end', async () => {
  const workspace = createWorkspace()
  const head = splitExportHead('r', '2026-01-01T00:00:00Z', 'x')
  const { stderr } = await workspace.importText(`${'{}\n'.repeat(50)}${head}${'{}\n'.repeat(100)}no element`)
  const named = [...stderr.matchAll(/^stdin:(\d+): /gm)].map(([, line]) => Number(line))
  expect(named).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  expect(stderr).toContain('stdin:51: line 152, an element of this export, is bad\n')
  expect(stderr).toContain('\n… and 52 more\n152 bad lines: nothing was imported')
})

test('an import counts 200,000 bad lines within an old generation of 48 MiB', async () => {
  const workspace = createWorkspace()
  const kinds = Array.from({ length: 200_000 }, (_, index) => `{"kind":"${`${index}`.padEnd(60, 'x')}"}\n`)
  const path = workspace.write('bad.ndjson', kinds.join(''))
  const env = { NODE_OPTIONS: '--max-old-space-size=48' }
  const { exitCode, stderr } = await run(['import', path, ...workspace.flags], { env })
  expect(stderr).toContain('\n… and 199900 more\n200000 bad lines: nothing was imported')
  expect(exitCode).toBe(1)
})

test('a line that is not JSON is reported with the column, if the column is known', async () => {
  const workspace = createWorkspace()
  const { stderr } = await workspace.importText(
    '{"kind":"project",}\n{"kind":"é" "email"}\n{"kind":nothing}\n{"kind":\n',
  )
  expect(stderr.split('\n').slice(0, 4)).toEqual([
    'stdin:1: not valid JSON at column 19',
    'stdin:2: not valid JSON at column 13',
    'stdin:3: not valid JSON',
    'stdin:4: not valid JSON',
  ])
})

test('--keep-going imports no good lines when the bad ones cannot be written to the rejects file', async () => {
  const workspace = createWorkspace()
  const path = workspace.write('input.ndjson', `${templateLines(0, 3_000).join('')}{}\n`)
  writeFileSync(`${path}.rejects.ndjson`, 'of an earlier run')
  expect(await workspace.import(path, '--keep-going')).toMatchObject({ exitCode: 2 })
  expect(await workspace.dump()).toBe('')
})

test('an import names a line that a full list refuses and imports the others, even if it cannot write the rejects file', async () => {
  const workspace = createWorkspace()
  await workspace.load(templateLines(0, 1).join(''))
  const hand = new Database(workspace.path('workspace.db'))
  hand.prepare('update document set key = key + ? - 1').run(LAST_DOCUMENT_POSITION)
  hand.close()
  const [refused = ''] = templateLines(1, 2)
  const path = workspace.write('input.ndjson', refused + documentLine('project', ANA, '{"id":"p"}'))
  const kept = `${path}.rejects.ndjson`
  writeFileSync(kept, 'of an earlier run')
  const named = `${path}:1: its list has no position left after ${LAST_DOCUMENT_POSITION}: replace the user to number the list anew\n`
  const { exitCode, stdout, stderr } = await workspace.import(path)
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining(': 1 added, 0 replaced, 0 unchanged (')])
  expect(stderr).toBe(
    `${named}1 line was not imported: bad lines cannot be written to ${kept}: the file exists already: name another one with --rejects\n`,
  )
  expect(readFileSync(kept, 'utf8')).toBe('of an earlier run')
  rmSync(kept)
  expect((await workspace.import(path)).stderr).toBe(`${named}1 line was not imported: see ${kept}\n`)
  expect(readFileSync(kept, 'utf8')).toBe(refused)
})

test('a stopped import leaves no rejects file, so that it can be run again', async () => {
  const workspace = createWorkspace()
  const path = workspace.write('input.ndjson', `{}\n${templateLines(0, 3).join('')}`)
  const signals = new EventEmitter()
  const clock = () => {
    // The import asks the clock after it has made the rejects file and before it imports anything.
    signals.emit('SIGTERM')
    return Date.now()
  }
  const args = ['import', path, '--keep-going', ...workspace.flags]
  const stopped = await runHere(args, { signals, clock })
  expect([stopped.exitCode, stopped.stderr]).toEqual([
    1,
    expect.stringMatching(/\nstopped: run it again to continue\n$/),
  ])
  expect(existsSync(`${path}.rejects.ndjson`)).toBe(false)
  const { exitCode, stdout } = await runHere(args)
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining('3 added')])
  expect(readFileSync(`${path}.rejects.ndjson`, 'utf8')).toBe('{}\n')
})

test('an import from stdin leaves no copy behind', async () => {
  const workspace = createWorkspace()
  const env = { TMPDIR: temporaryDirectory() }
  for (const stdin of [documentLine('template', ANA, '{"id":1}'), '{}\n']) {
    await run(['import', '-', ...workspace.flags], { stdin, env })
    expect(readdirSync(env.TMPDIR)).toEqual([])
  }
  expect(await workspace.dump()).toBe(documentLine('template', ANA, '{"id":1}'))
})

test.skipIf(process.platform !== 'linux')(
  'the copy of stdin never has a name, so that a killed import leaves none either',
  async () => {
    const workspace = createWorkspace()
    const folder = temporaryDirectory()
    const seen: (string | null)[] = []
    const watcher = watch(folder, (_, name) => void seen.push(name))
    await run(['import', '-', ...workspace.flags], {
      stdin: '{"kind":"user","email":"a@b.co"}',
      env: { TMPDIR: folder },
    })
    // Events arrive in order.
    writeFileSync(join(folder, 'last'), '')
    await expect.poll(() => seen).toContain('last')
    watcher.close()
    // Linux gives the number of a file without a name as its name.
    expect(new Set(seen.filter((name) => !name?.startsWith('#')))).toEqual(new Set(['last']))
    expect(await workspace.dump()).not.toBe('')
  },
)

test('an import reports a stdin that is a folder or cannot be read, and creates no database', async () => {
  const workspace = createWorkspace()
  const unreadable = openSync(workspace.path('unreadable'), 'w')
  for (const stdin of [openSync(temporaryDirectory(), 'r'), unreadable]) {
    const child = spawn(process.execPath, [PROGRAM, 'import', '-', ...workspace.flags], {
      stdio: [stdin, 'pipe', 'pipe'],
    })
    const [stdout, stderr] = [text(child.stdout as Readable), text(child.stderr as Readable)]
    const [exitCode] = await once(child, 'close')
    closeSync(stdin)
    expect([exitCode, await stdout, await stderr]).toEqual([1, '', expect.stringMatching(/^cannot read stdin: .*\n$/)])
  }
  expect(existsSync(workspace.path('workspace.db'))).toBe(false)
})

test('dump writes an export that is too large for one line as one line per element, and it imports again unchanged', async () => {
  const workspace = createWorkspace()
  const elements = Array.from({ length: 17 }, (_, n) => `"${n}${'x'.repeat(1_000_000)}"`)
  const lines = elements.map((element) => elementLine('big', element)).join('')
  await workspace.load(`${splitExportHead('r', '2026-01-01T00:00:00Z', 'big')}${lines}`)
  const dump = await workspace.dump()
  expect(Math.max(...dump.split('\n').map((line) => line.length))).toBeLessThan(1_100_000)
  const again = createWorkspace()
  await again.load(dump)
  expect((await again.dump()) === dump).toBe(true)
  expect(dump).toContain(`"email":"${EVE}"`)
})

test('a record with more values than the heap has room for is a bad line, and nothing is imported', async () => {
  const workspace = createWorkspace((args, options) =>
    run(args, { ...options, env: { NODE_OPTIONS: '--max-old-space-size=200' } }),
  )
  const values = 1_000_000
  const head = `{"kind":"export","email":"${ANA}","r":"p","createdAt":"2026-01-01T00:00:00Z","data":`
  const lines = [
    documentLine('project', ANA, '{"id":"p"}'),
    `${head}[${'{},'.repeat(values)}1]}\n`,
    documentLine('template', ANA, `{"id":"t","deep":${'['.repeat(values)}${']'.repeat(values)}}`),
    documentLine('template', ANA, `{"id":"w","wide":[${'1,'.repeat(values)}1]}`),
  ]
  const path = workspace.write('large.ndjson', lines.join(''))
  const { exitCode, stdout, stderr } = await workspace.import(path)
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr.match(/large\.ndjson:[234]: Node\.js cannot hold a record with more than \d+ values/g)).toHaveLength(3)
  expect(stderr).toContain('3 bad lines: nothing was imported')
  expect(await workspace.dump()).toBe('')
})

test('a record of ordinary size is imported in a small heap, however little of it is for new values', async () => {
  const NODE_OPTIONS = '--max-old-space-size=100 --max-semi-space-size=16'
  const workspace = createWorkspace((args, options) => run(args, { ...options, env: { NODE_OPTIONS } }))
  await workspace.load(documentLine('template', ANA, `{"id":"w","wide":[${'1,'.repeat(100_000)}1]}`))
})

test('a record that the usual heap has room for is imported, however many values it has', async () => {
  const workspace = createWorkspace()
  await workspace.load(documentLine('template', ANA, `{"id":"w","wide":[${'1,'.repeat(2_000_000)}1]}`))
  expect(await workspace.dump()).toContain('"wide":[1,1,')
})

test('a record with more members than an object of V8 can number is a bad line, however large the heap', async () => {
  const workspace = createWorkspace((args, options) =>
    run(args, { ...options, env: { NODE_OPTIONS: '--max-old-space-size=8000' } }),
  )
  // As many values as the members and names of such an object, in an array: parsing the object would not end.
  const path = workspace.write(
    'wide.ndjson',
    documentLine('template', ANA, `{"id":"w","wide":[${'1,'.repeat(2 ** 24)}1]}`),
  )
  const { exitCode, stderr } = await workspace.import(path)
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(
      'wide.ndjson:1: Node.js cannot hold a record with more than 16777214 values (an export can',
    ),
  ])
})

test('every value counts once, however it is written', () => {
  const counted = (text: string, values: number) => [hasMoreValues(text, values), hasMoreValues(text, values - 1)]
  for (const [text, values] of [
    ['1', 1],
    [' { } ', 1],
    ['[[],[ ]]', 3],
    ['[{}, {"a" : [1, "],[{"]}]', 7],
    ['{"a,b":"\\"[,","c":null}', 5],
    [`${'['.repeat(50)}${']'.repeat(50)}`, 50],
  ] as const) {
    // With spaces behind it, no text is too short to be counted.
    expect(counted(text.padEnd(200), values), text).toEqual([false, true])
    expect(hasMoreValues(text, values), text).toBe(false)
  }
})

test('an export has at most as many elements as a database has positions for', () => {
  expect(() => requirePlace(MAX_ELEMENTS)).not.toThrow()
  expect(() => requirePlace(MAX_ELEMENTS + 1)).toThrow('at most 16777215 elements')
})

test('an import names a line that is too long to read, and reads the lines after it', async () => {
  const workspace = createWorkspace()
  const path = workspace.write('long.ndjson', documentLine('template', ANA, '{"id":1}'))
  const start = statSync(path).size
  // A sparse file: the NUL bytes take no room on the disk.
  truncateSync(path, start + 268_400_001)
  appendFileSync(path, `\n{}\n`)
  const { exitCode, stderr } = await workspace.import(path)
  expect([exitCode, stderr.split('\n').slice(0, 2)]).toEqual([
    1,
    [`${path}:2: longer than 268400000 bytes`, `${path}:3: "kind" must be a string that is not empty`],
  ])
})

test('of a line that is too long to read, no more is kept in memory than of one that is not', async () => {
  const blocks = 400
  let reads = 0
  const endless = {
    async read(buffer: Buffer, at: number, length: number) {
      reads += 1
      buffer.fill('x', at, at + length)
      return { bytesRead: reads > blocks ? 0 : length }
    },
  } as unknown as FileHandle
  const before = await liveBytes()
  let kept = 0
  for await (const _ of readLines(endless, 1_000)) if (reads === blocks) kept = (await liveBytes()) - before
  expect(kept).toBeLessThan(32_000_000)
})

test('dump refuses a missing database and does not create it', async () => {
  const workspace = createWorkspace()
  expect((await runHere(['dump', ...workspace.flags])).exitCode).toBe(2)
  expect(existsSync(workspace.path('workspace.db'))).toBe(false)
})
