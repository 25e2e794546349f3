// Import files line by line: bad lines, --keep-going, exports with one line per element, and files that cannot be read.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MachineError } from '../src/errors.ts'
import { readLines } from '../src/import-export/format/lines.ts'
import { run, runHere } from './support/command-line.ts'
import {
  createWorkspace,
  EVE,
  elementLine,
  sorted,
  splitExportHead,
  templateLines,
} from './support/import-workspace.ts'
import { PROGRAM } from './support/program.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

/** The magic number of a Zstandard frame (RFC 8878 section 3.1.1) and one more byte, which is no whole frame. */
const ZSTD_BEGIN = Buffer.from('28b52ffd00', 'hex')

describe('a bad line', () => {
  test('late in a large file is reported with the file, its number and the reason, and nothing is imported', async () => {
    const workspace = createWorkspace()
    await workspace.load(SMALL_WORLD)
    const before = await workspace.dump()
    const lines = templateLines(0, 20_000)
    lines[19_989] = '{"kind":"template","email":"ana@example.com","data":{"title":"no id"}}\n'
    const path = workspace.write('late.ndjson', lines.join(''))
    const { exitCode, stdout, stderr } = await workspace.import(path)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      `${path}:19990: the template has no id: none of id, uuid, ref, slug, name is a string that is not empty, or an integer\n` +
        '1 bad line: nothing was imported (--keep-going imports the good lines)\n',
    )
    expect(await workspace.dump()).toBe(before)
    expect(existsSync(`${path}.rejects.ndjson`)).toBe(false)
  })

  test('is reported on one line without control characters, whatever names the input has', async () => {
    const workspace = createWorkspace()
    const name = String.raw`a\u001b[2J\r\n\u009b1mbad.ndjson:9: b`
    const project = (id: string) => documentLine('project', EVE, `{"id":"${id}","ref":"${name}"}`)
    const path = workspace.write(
      'bad.ndjson',
      [
        `{"kind":"${name}","email":"${EVE}"}\n`,
        `{"${name}":1,"${name}":2}\n`,
        project('1'),
        project('2'),
        elementLine(name, '1'),
        exportLine(EVE, { r: '\u009b1m', createdAt: '2026-01-01T00:00:00Z', elements: [] }),
      ].join(''),
    )
    const { exitCode, stdout, stderr } = await workspace.import(path, '--keep-going')
    expect(exitCode).toBe(1)
    expect(stderr.trimEnd().split('\n')).toEqual([
      ...[1, 2, 4, 5, 6].map((number) => expect.stringMatching(`^\\S+bad\\.ndjson:${number}: `)),
      expect.stringContaining('4 lines were not imported'),
    ])
    expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  test('is reported with its reason, in order, and never quoted', async () => {
    const workspace = createWorkspace()
    const cases: readonly (readonly [line: string | Buffer, reason: string])[] = [
      ['{"kind":"template","email":"a@example.com","data":{"id":"a secret"}', 'not valid JSON at column 68'],
      ['["a secret"]', 'not a JSON object'],
      ['{"kind":"secret"}', 'unknown kind "secret": use project, template, uiLibrary, export, exportElement, user'],
      ['{"kind":"template","email":"a secret","data":{"id":1}}', '"email" is not a valid email address'],
      ['{"kind":"template","email":"a@example.com","data":["a secret"]}', '"data" of a template must be an object'],
      [Buffer.from('{"kind":"template","email":"a@example.com","data":{"id":"\xff"}}', 'latin1'), 'not valid UTF-8'],
      ['{"kind":"exportElement","export":"x","data":1}', 'no earlier good line has an export with the id "x"'],
    ]
    const path = workspace.write(
      'bad.ndjson',
      Buffer.concat(cases.flatMap(([line]) => [Buffer.from(line), Buffer.from('\n\n')])),
    )
    const { exitCode, stderr } = await workspace.import(path)
    expect(exitCode).toBe(1)
    const expected = cases.map(([, reason], index) => `${path}:${index * 2 + 1}: ${reason}`)
    expect(stderr.split('\n').slice(0, cases.length)).toEqual(expected)
    expect(stderr).not.toContain('a secret')
    expect(await workspace.dump()).toBe('')
  })
})

describe('a reference', () => {
  test('may repeat for its project, however the line is written, and is refused for another project of the user', async () => {
    const workspace = createWorkspace()
    const lines = [
      '\ufeff{"kind":"project","email":"EVE@example.com","data":{"id":"a","ref":"\u00e9t\u00e9"}}\r\n',
      '\n{"data":{"ref":"\\u00e9t\\u00e9","id":"a"},"email":"eve@example.com","kind":"project"}\n',
      documentLine('project', ANA, '{"id":"b","ref":"\u00e9t\u00e9"}'),
      documentLine('project', EVE, '{"id":"b","ref":"\u00e9t\u00e9"}'),
    ]
    const good = workspace.write('good.ndjson', lines.slice(0, 3).join(''))
    expect((await workspace.import(good)).stdout).toContain(': 2 added, 1 replaced, 0 unchanged ')
    const path = workspace.write('taken.ndjson', lines.join(''))
    const { exitCode, stderr } = await workspace.import(path)
    expect(exitCode).toBe(1)
    expect(stderr.split('\n')[0]).toBe(
      `${path}:5: reference "\u00e9t\u00e9" is used by another project of this user earlier in the file`,
    )
  })
})

describe('--keep-going', () => {
  test('keeps the good lines and writes the bad ones, byte for byte, to the rejects file', async () => {
    const workspace = createWorkspace()
    const bad = [
      '{"kind":"template","email":"eve@example.com","data":{"no":"id"}}',
      '  {"kind" : "template" , "é":"\\u00e9" ',
      Buffer.from('{"kind":"template","name":"\xe9\xff\x80"}', 'latin1'),
      '\u{1f600} not json\t ',
      'not json, with a carriage return\r',
      '{"kind":"project","email":"eve@example.com","data":{"id":"other","ref":"p1"}}',
    ].map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')]))
    const good = [
      documentLine('project', EVE, '{"id":"p1","n":1.0,"n":2}'),
      ...templateLines(0, 400, EVE),
      exportLine(EVE, { r: 'p1', createdAt: '2026-01-01T00:00:00Z', elements: ['1.0'] }),
    ]
    const lines = good.map((line) => Buffer.from(line))
    bad.forEach((line, index) => {
      lines.splice(1 + index * 80, 0, line)
    })
    const first = Buffer.from('\ufeffthe first line\n')
    const path = workspace.write('mixed.ndjson', Buffer.concat([first, ...lines, Buffer.from('the last line')]))
    const { exitCode, stdout, stderr } = await workspace.import(path, '--keep-going')
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^imported \S+: 402 added, 0 replaced, 0 unchanged /)
    expect(stderr).toContain(`${path}:3: the template has no id`)
    expect(stderr).toContain(`8 lines were not imported: see ${path}.rejects.ndjson\n`)
    expect(readFileSync(`${path}.rejects.ndjson`)).toEqual(
      Buffer.concat([first, ...bad, Buffer.from('the last line\n')]),
    )
    expect(statSync(`${path}.rejects.ndjson`).mode & 0o777).toBe(0o600)
    expect(sorted(await workspace.dump())).toEqual(sorted(good.join('')))
  })

  test('leaves no rejects file behind when every line is good', async () => {
    const workspace = createWorkspace()
    const path = workspace.write('good.ndjson', SMALL_WORLD)
    expect(await workspace.import(path, '--keep-going')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(existsSync(`${path}.rejects.ndjson`)).toBe(false)
  })

  test('writes the bad lines to the file of --rejects', async () => {
    const workspace = createWorkspace()
    const path = workspace.write('bad.ndjson', 'not json\n')
    const rejects = workspace.path('elsewhere.ndjson')
    expect(await workspace.import(path, '--keep-going', '--rejects', rejects)).toMatchObject({ exitCode: 1 })
    expect(readFileSync(rejects, 'utf8')).toBe('not json\n')
  })

  test.each([
    ['where nothing can be written', 'missing/rejects.ndjson', 'no such file or directory'],
    ['over the file itself', 'mixed.ndjson', 'the file exists already'],
    ['over the database', 'workspace.db', 'the file exists already'],
  ])('imports nothing when the bad lines would go %s', async (_, name, reason) => {
    const workspace = createWorkspace()
    const path = workspace.write('mixed.ndjson', `${SMALL_WORLD}not json\n`)
    const rejects = workspace.path(name)
    const { exitCode, stderr } = await workspace.import(path, '--keep-going', '--rejects', rejects)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`bad lines cannot be written to ${rejects}: `)
    expect(stderr).toContain(reason)
    expect(readFileSync(path, 'utf8')).toBe(`${SMALL_WORLD}not json\n`)
    expect(await workspace.dump()).toBe('')
  })
})

describe('an export with one line per element', () => {
  const project = documentLine('project', EVE, '{"id":"site"}')
  const other = documentLine('project', EVE, '{"id":"other"}')
  const template = documentLine('template', EVE, '{"id":"t"}')
  const head = splitExportHead('site', '2026-01-02T00:00:00Z', 'x')
  const otherHead = splitExportHead('other', '2026-01-02T00:00:00Z', 'y')
  const [first, second, otherFirst, otherSecond] = [
    elementLine('x', '1'),
    elementLine('x', '2'),
    elementLine('y', '1'),
    elementLine('y', '2'),
  ]
  const bad = '{"kind":"exportElement","export":"x"}\n'
  const broken = '{"kind":"exportElement","export":"x","data":\n'
  const before = exportLine(EVE, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"before"'] })
  const whole = exportLine(EVE, { r: 'site', createdAt: '2026-01-02T00:00:00Z', elements: ['1', '2'] })
  const otherWhole = exportLine(EVE, { r: 'other', createdAt: '2026-01-02T00:00:00Z', elements: ['1', '2'] })

  interface Case {
    readonly name: string
    readonly lines: readonly string[]
    /** All lines of the dump: nothing else may appear. */
    readonly kept: readonly string[]
  }
  const rejected: readonly Case[] = [
    { name: 'in the middle', lines: [project, before, head, first, bad, second], kept: [project, before] },
    { name: 'at the start', lines: [project, before, head, bad, first, second], kept: [project, before] },
    { name: 'at the end', lines: [project, before, head, first, second, bad], kept: [project, before] },
    { name: 'that is not JSON', lines: [project, before, head, first, broken, second], kept: [project, before] },
    { name: 'that is not JSON, at the end', lines: [project, before, head, first, broken], kept: [project, before] },
    { name: 'before another line', lines: [project, head, first, bad, template], kept: [project, template] },
    {
      name: 'between the elements of another export',
      lines: [project, other, head, otherHead, first, otherFirst, bad, otherSecond, second],
      kept: [project, other, otherWhole],
    },
    {
      name: 'between other lines',
      lines: [project, head, first, template, bad, other, second],
      kept: [project, other, template],
    },
    {
      name: 'that is not JSON, between other lines',
      lines: [project, head, first, template, broken, other, second],
      kept: [project, other, template],
    },
    {
      name: 'that may be of another export with its id',
      lines: [project, other, head, first, otherHead.replace('"y"', '"x"'), second, template],
      kept: [project, other, template],
    },
    {
      name: 'that names no export, and so may be of any',
      lines: [project, head, first, '{"kind":"exportElement","export":7,"data":2}\n', second, template],
      kept: [project, template],
    },
    {
      name: 'that may be of a bad export with its id',
      lines: [project, head, first, head.replace(/"2026[^"]*"/, '"now"'), second, template],
      kept: [project, template],
    },
  ]
  test.each(rejected)('is rejected as a whole for a bad element $name', async ({ lines, kept }) => {
    const workspace = createWorkspace()
    const path = workspace.write('split.ndjson', lines.join(''))
    expect(await workspace.import(path, '--keep-going')).toMatchObject({ exitCode: 1 })
    expect(sorted(await workspace.dump())).toEqual(sorted(kept.join('')))
    const rejects = lines.filter(
      (line) => line === bad || line === broken || ![...kept, otherHead, otherFirst, otherSecond].includes(line),
    )
    expect(readFileSync(`${path}.rejects.ndjson`, 'utf8')).toBe(rejects.join(''))
  })

  test('is rejected with the whole file for a bad element when --keep-going is missing', async () => {
    const workspace = createWorkspace()
    await workspace.load(project + before)
    const path = workspace.write('split.ndjson', [template, head, first, bad, second, other].join(''))
    const { exitCode, stdout, stderr } = await workspace.import(path)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`${path}:4: "data" is missing\n`)
    expect(await workspace.dump()).toBe(project + before)
  })

  const kept: readonly Case[] = [
    { name: 'before it', lines: [project, 'not json\n', head, first, second], kept: [project, whole] },
    {
      name: 'of another kind after it',
      lines: [project, head, first, second, '{"kind":"template","email":"eve@example.com","data":{}}\n', template],
      kept: [project, whole, template],
    },
    {
      name: 'of another export with its id, without elements,',
      lines: [project, other, head, first, second, otherHead.replace('"y"', '"x"'), template],
      kept: [project, other, whole, template],
    },
  ]
  test.each(kept)('is kept when there is a bad line $name that cannot be one of its elements', async (row) => {
    const workspace = createWorkspace()
    const path = workspace.write('split.ndjson', row.lines.join(''))
    expect(await workspace.import(path, '--keep-going')).toMatchObject({ exitCode: 1 })
    expect(sorted(await workspace.dump())).toEqual(sorted(row.kept.join('')))
  })

  test('may be scattered over the file', async () => {
    const workspace = createWorkspace()
    const lines = [project, head, template, first, otherHead, otherFirst, other, second, otherSecond]
    const path = workspace.write('split.ndjson', lines.join(''))
    expect(await workspace.import(path)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(sorted(await workspace.dump())).toEqual(sorted([project, whole, other, otherWhole, template].join('')))
  })
})

describe('standard input', () => {
  test('is read when the file is -', async () => {
    const workspace = createWorkspace(run)
    const { exitCode, stdout, stderr } = await workspace.importText(SMALL_WORLD)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^imported stdin: 8 added, 0 replaced, 0 unchanged /)
    expect(sorted(await workspace.dump())).toEqual(sorted(SMALL_WORLD))
  })

  test('is called "stdin" in the report of a bad line', async () => {
    const workspace = createWorkspace(run)
    const { exitCode, stderr } = await workspace.importText(`${SMALL_WORLD}not json`)
    expect([exitCode, stderr.split('\n')[0]]).toEqual([1, 'stdin:9: not valid JSON'])
    expect(await workspace.dump()).toBe('')
  })
})

test('progress is not drawn when stderr is not a terminal', async () => {
  const workspace = createWorkspace(run)
  const path = workspace.write('large.ndjson', templateLines(0, 20_000).join(''))
  const { exitCode, stdout, stderr } = await workspace.import(path)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^imported \S+: 20000 added, 0 replaced, 0 unchanged \([^()]+\)\n$/)
})

test('importing the same file again changes nothing, and importing another version replaces in place', async () => {
  const workspace = createWorkspace()
  const lines = templateLines(0, 100, EVE)
  const path = workspace.write('twice.ndjson', [...lines, SMALL_WORLD].join(''))
  expect((await workspace.import(path)).stdout).toContain(': 108 added, 0 replaced, 0 unchanged ')
  const dump = await workspace.dump()
  expect((await workspace.import(path)).stdout).toContain(': 0 added, 0 replaced, 108 unchanged ')
  expect(await workspace.dump()).toBe(dump)
  const changed = documentLine('template', EVE, '{"id":50,"text":"changed"}')
  expect((await workspace.importText(changed)).stdout).toContain(': 0 added, 1 replaced, 0 unchanged ')
  expect(await workspace.dump()).toBe(dump.replace(lines[50] ?? '', changed))
})

test('a file that cannot be read is wrong usage, reported on one line without a stack trace', async () => {
  const workspace = createWorkspace()
  const cases = [
    [workspace.path('missing.ndjson'), 'there is no such file'],
    [workspace.directory, 'it is a folder'],
    // A named pipe that nobody writes to.
    [makePipe(workspace.path('pipe')), 'not a file (pipe it in and use - to read from stdin)'],
    [workspace.write('some.gz', gzipSync(SMALL_WORLD)), 'it is compressed, so unpack it first'],
    [workspace.write('cut.gz', gzipSync(SMALL_WORLD).subarray(0, 40)), 'it is compressed, so unpack it first'],
    [workspace.write('some.zst', ZSTD_BEGIN), 'it is compressed, so unpack it first'],
  ] as const
  for (const [path, reason] of cases) {
    const stderr = `cannot read ${path}: ${reason}\n`
    expect(await workspace.import(path)).toEqual({ exitCode: 2, stdout: '', stderr })
  }
})

// Linux answers EIO for it, as for a file on a failing disk.
test.skipIf(process.platform !== 'linux').each(['import', 'restore'])(
  '%s of a file on a failing disk says that it cannot be read',
  async (command) => {
    const args = [command, '/proc/self/mem', '--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
    const stderr = 'cannot read /proc/self/mem: EIO: i/o error, read\n'
    expect(await runHere(args)).toEqual({ exitCode: 1, stdout: '', stderr })
  },
)

test('a disk that fails within a file is a failure of the machine, not a bug', async () => {
  // A file that is open for writing only cannot be read.
  await using file = await open(join(temporaryDirectory(), 'input.ndjson'), 'w')
  await expect(readLines(file).next()).rejects.toThrow(MachineError)
})

function makePipe(path: string): string {
  expect(spawnSync('mkfifo', [path]).status).toBe(0)
  return path
}

test('compressed input on stdin is reported as compressed, and nothing is imported', async () => {
  const directory = temporaryDirectory()
  const database = join(directory, 'workspace.db')
  const args = ['import', '-', '--database', `file:${database}`, '--keep-going']
  const finished = spawnSync(process.execPath, [PROGRAM, ...args], { input: gzipSync(SMALL_WORLD), encoding: 'utf8' })
  expect([finished.status, finished.stderr]).toEqual([2, 'cannot read stdin: it is compressed, so unpack it first\n'])
  expect(readdirSync(directory)).toEqual([])
})

test('a file that cannot be read does not create a database', async () => {
  const workspace = createWorkspace()
  expect(await workspace.import(workspace.path('missing.ndjson'))).toMatchObject({ exitCode: 2 })
  expect(existsSync(workspace.path('workspace.db'))).toBe(false)
})
