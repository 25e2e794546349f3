// Tests kill -9 of commands that remove in many steps: each user is as before or as after, and another run completes
// the rest.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import SqliteDatabase from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { runHere, startRunForTest } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { createDatabase, dropDatabase, openHand, POSTGRES_URL, temporaryCopy } from '../support/postgres.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'
import { makeDirectory, removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

/** Kills of each command on each engine; npm run test:crash kills more often, among more users. */
const { TEST_REMOVAL_KILLS = '' } = process.env
const KILLS = Number(TEST_REMOVAL_KILLS || 2)
const USERS = TEST_REMOVAL_KILLS === '' ? 100 : 200
/** The kill comes within this time after a first change was seen: a removal of more users takes longer. */
const KILL_WITHIN_MS = (USERS * 3) / 4
const EXPORTS = 4
const GONE = 'gone-for-ever'

const emails = Array.from({ length: USERS }, (_, user) => `user-${String(user).padStart(3, '0')}@example.com`)
const [FIRST = ''] = emails
const exportOf = (email: string, number: number) =>
  exportLine(email, {
    r: 'p',
    createdAt: `2026-01-0${number}T00:00:00Z`,
    elements: Array.from(
      { length: 5 },
      (_, n) => `{"n":${n},"text":"${number < EXPORTS ? GONE : 'stays'} ${'x'.repeat(300)}"}`,
    ),
  })
const BEFORE = emails
  .map((email) =>
    [
      documentLine('project', email, '{"id":"p","version":1.0}'),
      documentLine('template', email, `{"id":"t","text":"${GONE}"}`),
      ...Array.from({ length: EXPORTS }, (_, n) => exportOf(email, n + 1)),
    ].join(''),
  )
  .join('')
const REMOVAL = emails.map((email) => `{"kind":"user","email":"${email}","removed":true}\n`).join('')
const REPLACEMENT = emails
  .map(
    (email) =>
      documentLine('project', email, '{"id":"q","version":2.0}') +
      documentLine('project', email, '{"id":"p","version":2.0}'),
  )
  .join('')

interface Engine {
  readonly databaseUrl: string
  /** Reads one number on a connection that only reads. */
  readonly count: (sql: string) => Promise<number>
  /** The content of the database files; empty if they belong to a server. */
  readonly fileBytes: () => string
}

/** Makes a database once that contains `BEFORE`; returns a copy of it. */
type Loaded = () => Promise<Engine>

function loadedSqlite(): Loaded {
  const directory = makeDirectory()
  const original = join(directory, 'workspace.db')
  beforeAll(async () => {
    await load(`file:${original}`)
    return () => removeDirectory(directory)
  })
  return async () => {
    const path = join(temporaryDirectory(), 'workspace.db')
    copyFileSync(original, path)
    return {
      databaseUrl: `file:${path}`,
      async count(sql) {
        using opened = disposable(new SqliteDatabase(path, { readonly: true, timeout: 5_000 }))
        return Number(opened.database.prepare(sql.replaceAll('workspace_gateway.', '')).pluck().get())
      },
      fileBytes: () => ['', '-wal'].map((suffix) => readFileSync(path + suffix, 'latin1')).join(''),
    }
  }
}

function loadedPostgres(): Loaded {
  let original = ''
  beforeAll(async () => {
    original = await createDatabase()
    await load(original)
    return () => dropDatabase(original)
  })
  return async () => {
    const databaseUrl = await temporaryCopy(original)
    // One connection for all counts of a test: to connect every few milliseconds took most of its processor time.
    const client = await openHand(databaseUrl)
    return {
      databaseUrl,
      count: async (sql) => Number(Object.values((await client.query(sql)).rows[0] ?? {})[0]),
      fileBytes: () => '',
    }
  }
}

async function load(databaseUrl: string): Promise<void> {
  expect((await runHere(['import', '-', '--database', databaseUrl], { stdin: BEFORE })).exitCode).toBe(0)
}

function disposable(database: SqliteDatabase.Database) {
  return { database, [Symbol.dispose]: () => database.close() }
}

interface Removal {
  readonly name: string
  readonly args: (file: string) => readonly string[]
  /** A number that is constant before the removal begins, and changes with its first step. */
  readonly changing: string
  /** Whether a user may be in this state, given the lines of the dump before and after. */
  readonly isAllowed: (found: readonly string[], before: readonly string[], after: readonly string[]) => boolean
}

const equal = (one: readonly string[], other: readonly string[]) => one.join('') === other.join('')

const REMOVALS: readonly Removal[] = [
  {
    name: 'exports prune',
    args: () => ['exports', 'prune', '--keep', '1'],
    changing: 'select count(*) from workspace_gateway.export',
    // Each export is there as a whole, or not at all.
    isAllowed: (found, before, after) =>
      found.every((line) => before.includes(line)) && after.every((line) => found.includes(line)),
  },
  {
    name: 'import --replace',
    args: (file) => ['import', file, '--replace'],
    changing: `select count(*) from workspace_gateway.document where id = 'q'`,
    isAllowed: (found, before, after) => equal(found, before) || equal(found, after),
  },
]

async function dumpOf(databaseUrl: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const { exitCode, stdout } = await runHere(['dump', '--database', databaseUrl])
  expect(exitCode).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  return Map.groupBy(lines, (line) => String(JSON.parse(line).email ?? JSON.parse(line).export))
}

function describeRemovals(copy: Loaded): void {
  test.each(REMOVALS)(
    '$name leaves each user as before or as after, and another run completes it',
    { timeout: 60_000 + KILLS * 30_000 },
    async ({ args, changing, isAllowed }) => {
      const seed = Number(process.env.TEST_CRASH_SEED ?? randomSeed())
      const random = createSeededRandom(seed)
      const file = join(temporaryDirectory(), 'replacement.ndjson')
      writeFileSync(file, REPLACEMENT)
      const clean = await copy()
      const before = await dumpOf(clean.databaseUrl)
      expect((await runHere([...args(file), '--database', clean.databaseUrl])).exitCode).toBe(0)
      const after = await dumpOf(clean.databaseUrl)
      expect(after).not.toEqual(before)
      let halfway = 0
      for (let round = 0; round < KILLS; round += 1) {
        const engine = await copy()
        const serving = await startGateway({ databaseUrl: engine.databaseUrl })
        const { accessToken } = await serving.login(emails.at(-1) ?? '')
        const unchanged = await engine.count(changing)
        const { ended, isRunning, kill } = startRunForTest([...args(file), '--database', engine.databaseUrl])
        while (isRunning() && (await engine.count(changing)) === unchanged) await delay(5)
        await Promise.race([delay(random.below(KILL_WITHIN_MS)), ended])
        await kill()
        const found = await dumpOf(engine.databaseUrl)
        const wrong = emails.filter(
          (email) => !isAllowed(found.get(email) ?? [], before.get(email) ?? [], after.get(email) ?? []),
        )
        expect(wrong, `TEST_CRASH_SEED=${seed}`).toEqual([])
        const changed = emails.filter((email) => !equal(found.get(email) ?? [], before.get(email) ?? []))
        if (changed.length > 0 && emails.some((email) => !equal(found.get(email) ?? [], after.get(email) ?? [])))
          halfway += 1
        // A gateway that ran all the time answers what the dump contains.
        const projects = await serving.get('/projects', accessToken)
        expect([projects.status, projects.text.includes('2.0')]).toEqual([
          200,
          (found.get(emails.at(-1) ?? '') ?? []).some((line) => line.includes('2.0')),
        ])
        expect((await runHere([...args(file), '--database', engine.databaseUrl])).exitCode).toBe(0)
        expect(await dumpOf(engine.databaseUrl)).toEqual(after)
        if (changing.includes('document')) expect(engine.fileBytes()).not.toContain(GONE)
        else expect(engine.fileBytes().split(GONE).length - 1).toBeLessThanOrEqual(USERS)
      }
      expect(halfway, `none of ${KILLS} kills came in the middle, TEST_CRASH_SEED=${seed}`).toBeGreaterThan(0)
    },
  )
}

describe('on SQLite', () => {
  const copy = loadedSqlite()

  describe('a removal that is killed halfway', () => describeRemovals(copy))

  test.each([
    { name: 'exports prune', args: ['exports', 'prune', '--keep', '1'], left: USERS },
    { name: 'import --replace', args: ['import', '--replace'], input: REPLACEMENT },
    { name: 'an import of records that remove', args: ['import'], input: REMOVAL },
    {
      name: 'users rename',
      args: ['users', 'rename', FIRST, 'new@example.com'],
      gone: FIRST,
      again: { exitCode: 1, stderr: `nothing is stored for ${FIRST}\n` },
    },
  ])(
    '$name, run again with nothing left to remove, erases from the files what the earlier run could not',
    async ({ args, input, gone = GONE, left = 0, again = { exitCode: 0, stderr: '' } }) => {
      const engine = await copy()
      const file = join(temporaryDirectory(), 'input.ndjson')
      if (input !== undefined) writeFileSync(file, input)
      const flags = ['--database', engine.databaseUrl, '--lock-timeout', '100']
      const command = [...args, ...(input === undefined ? [] : [file]), ...flags]
      const found = () => engine.fileBytes().split(gone).length - 1
      {
        using reader = disposable(new SqliteDatabase(engine.databaseUrl.slice('file:'.length), { readonly: true }))
        reader.database.exec('begin; select * from user')
        expect((await runHere(command)).stderr).toContain('another process still reads an older state')
        expect(found()).toBeGreaterThan(left)
        reader.database.exec('rollback')
        // The last connection to close removes the log, so a gateway keeps it open.
        await startGateway({ databaseUrl: engine.databaseUrl })
        reader.database.close()
        expect(await runHere(command)).toMatchObject(again)
        expect(found()).toBeLessThanOrEqual(left)
      }
    },
  )
})

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => {
  describe('a removal that is killed halfway', () => describeRemovals(loadedPostgres()))
})
