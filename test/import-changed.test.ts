// A file that changes during its import: the second pass relies on the first pass, so both must read the same bytes.
import { EventEmitter } from 'node:events'
import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { PassThrough, Readable, Writable } from 'node:stream'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../src/cli/command-line.ts'
import { checkInput } from '../src/import-export/checks/validate.ts'
import { loadInput } from '../src/import-export/load.ts'
import { dropSomeStale } from '../src/import-export/stale-stages.ts'
import type { Store } from '../src/store/contract.ts'
import { openStore } from '../src/store/open-store.ts'
import { STALE_ROWS_PER_CALL } from '../src/store/workspace-edits.ts'
import { runHere } from './support/command-line.ts'
import { createWorkspace, elementLine, splitExportHead, templateLines } from './support/import-workspace.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'

const STORE_OPTIONS = {
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 10_000,
  poolSize: 2,
  onFatal() {},
}
/** A file is read in blocks of this size. */
const BLOCK_BYTES = 262_144
const LINES = templateLines(0, 10_000)
const CONTENT = LINES.join('')

const changes: readonly (readonly [what: string, change: (path: string) => void])[] = [
  ['another id in a late line', (path) => writeFileSync(path, CONTENT.replace('"id":9000', '"id":9999'))],
  ['a late line that is no longer JSON', (path) => writeFileSync(path, CONTENT.replace('{"id":9000', '["id":9000'))],
  ['two swapped lines', (path) => writeFileSync(path, swapped(CONTENT, '"id":9000', '"id":9001'))],
  ['one more line', (path) => appendFileSync(path, '\n')],
  ['nothing after the first block', (path) => truncateSync(path, BLOCK_BYTES)],
]

test.each(changes)(
  'when a file changes during its import (%s), the import keeps only a prefix of its lines and reports the change',
  async (_, change) => {
    const workspace = createWorkspace()
    const path = workspace.write('changing.ndjson', CONTENT)
    let asked = 0
    function clock(): number {
      // The import asks the clock for the first time after it has checked everything.
      if (asked === 0) change(path)
      asked += 1
      return Date.now()
    }
    const finished = await runHere(['import', path, ...workspace.flags], { clock })
    const stderr = `${path} changed while it was being imported: import it again\n`
    expect(finished).toEqual({ exitCode: 1, stdout: '', stderr })
    const kept = (await workspace.dump()).split('\n').filter(Boolean)
    expect(kept.map((line) => `${line}\n`)).toEqual(LINES.slice(0, kept.length))
    // What was imported before the change stays.
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(LINES.length)
  },
)

test('an import notices that a file was truncated after a whole line, exactly at the end of a block', async () => {
  const workspace = createWorkspace()
  const line = (index: number) => `${templateLines(index, index + 1)[0]?.trim()}`.padEnd(127)
  const path = workspace.write('even.ndjson', Array.from({ length: 6_000 }, (_, index) => `${line(index)}\n`).join(''))
  let isCut = false
  function clock(): number {
    if (!isCut) truncateSync(path, BLOCK_BYTES)
    isCut = true
    return Date.now()
  }
  const stderr = `${path} changed while it was being imported: import it again\n`
  expect(await runHere(['import', path, ...workspace.flags], { clock })).toEqual({ exitCode: 1, stdout: '', stderr })
})

test.each([
  ['grows', (path: string) => appendFileSync(path, '\n'.repeat(10))],
  ['keeps its size', (path: string) => writeFileSync(path, CONTENT.replace('"id":9000', '"id":9999'))],
])('a file that changes while it is checked is not imported at all, if it %s', async (_, change) => {
  const workspace = createWorkspace()
  const path = workspace.write('checked.ndjson', CONTENT)
  let shown = ''
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      // The first write to stderr draws the progress for the first time.
      if (shown === '') change(path)
      shown += chunk
      done()
    },
  })
  const stdout = new PassThrough()
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: true, clock: Date.now }
  expect(await runCommandLine(['import', path, ...workspace.flags], io, new EventEmitter())).toBe(1)
  expect(shown).toContain(`${path} changed while it was being checked: nothing was imported\n`)
  expect(stdout.read()).toBeNull()
  expect(await workspace.dump()).toBe('')
})

test('an import removes what a killed import left staged, but not what a running import has staged', async () => {
  const workspace = createWorkspace()
  await workspace.load(LINES[0] ?? '')
  const hand = new Database(workspace.path('workspace.db'))
  onTestFinished(() => {
    hand.close()
  })
  const stage = hand.prepare(
    `insert into staged_export (stage, user_id, ref, created_at, instant, staged_at) values (?, 1, 'r', '', '', ?)`,
  )
  const addElement = hand.prepare('insert into export_element (key, text) values (? << 24 | ?, ?)')
  for (const [name, minutes, elements] of [
    // More than one step removes.
    ['killed', 11, STALE_ROWS_PER_CALL + 1],
    ['running', 9, 1],
  ] as const) {
    const { lastInsertRowid } = stage.run(name, Date.now() - minutes * 60_000)
    for (let position = 1; position <= elements; position += 1) addElement.run(lastInsertRowid, position, name)
  }
  await workspace.load(LINES[1] ?? '')
  expect(hand.prepare('select stage from staged_export').pluck().all()).toEqual(['running'])
  expect(hand.prepare('select text from export_element').pluck().all()).toEqual(['running'])
})

describe.each([
  { engine: 'SQLite', isThere: true, make: () => createWorkspace() },
  {
    engine: 'PostgreSQL',
    isThere: POSTGRES_URL !== null,
    make: async () => createWorkspace(runHere, await temporaryDatabase()),
  },
])('on $engine', ({ isThere, make }) => {
  test.skipIf(!isThere)('an import keeps what it staged long ago while it goes on with other lines', async () => {
    const workspace = await make()
    const head = splitExportHead('r', '2026-01-01T00:00:00Z', 'x')
    // Nothing is imported while the last blocks before the end are read, for longer than staged rows are kept.
    const blank = '\n'.repeat(7 * BLOCK_BYTES)
    const lines = [head, elementLine('x', '1'), ...templateLines(0, 20_000), blank, elementLine('x', '2')]
    await using input = await open(workspace.write('long.ndjson', lines.join('')))
    await using store = await openStore(workspace.flags[1] ?? '', STORE_OPTIONS)
    const fields = { idFields: ['id'], refFields: ['id'] }
    const checked = await checkInput(input, fields, store, () => {})
    const start = Date.now()
    let now = start
    const besideGateway: Pick<Store, 'applyChanges' | 'dropStaleStages'> = {
      dropStaleStages: store.dropStaleStages,
      async applyChanges(changes) {
        while (!(await dropSomeStale(store, now)));
        return store.applyChanges(changes)
      },
    }
    const { added } = await loadInput(input, checked, besideGateway, {
      fields,
      clock: () => now,
      onProgress() {
        now += 2 * 60_000
      },
      async onRejected() {},
    })
    // Longer than the time after which stale rows are dropped.
    expect(now - start).toBeGreaterThan(12 * 60_000)
    expect(added).toBe(20_001)
    expect(await workspace.dump()).toContain('"createdAt":"2026-01-01T00:00:00Z","data":[1,2]}')
  })
})

function swapped(text: string, one: string, other: string): string {
  return text.replace(one, '\0').replace(other, one).replace('\0', other)
}
