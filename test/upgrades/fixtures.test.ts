// Tests that a database of any earlier commit opens with its documents, sessions and keys unchanged. Those commits
// themselves made the fixtures (make-fixtures.ts): each is named after its commit, and its first line contains what
// that commit answered.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { SCHEMA_VERSION as POSTGRES_VERSION } from '../../src/store/postgres/migrations.ts'
import { SCHEMA_VERSION as SQLITE_VERSION } from '../../src/store/sqlite/migrations.ts'
import { startGateway } from '../support/gateway.ts'
import { createDatabase, dropDatabase, execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { makeDirectory, removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts'
import { postgresSchema } from './postgres-schema.ts'
import { sqliteSchema } from './sqlite-schema.ts'
import { READS, type Upgraded, WORLD_USER } from './world.ts'

const FIXTURES = new URL('fixtures/', import.meta.url)
const NAMES = readdirSync(FIXTURES).map((file) => basename(file, '.sql'))
const SQLITE = NAMES.filter((name) => name.endsWith('.sqlite'))
const POSTGRES = NAMES.filter((name) => name.endsWith('.postgres'))

const STORE = { lockTimeoutMs: 5_000, connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 2, onFatal() {} }

test('there are 14 fixtures for SQLite and 12 for PostgreSQL', () => {
  expect([SQLITE.length, POSTGRES.length]).toEqual([14, 12])
})

test('every earlier schema version has a fixture on both engines', () => {
  const versionsOf = (names: readonly string[], stored: RegExp) =>
    new Set(names.map((name) => Number(stored.exec(read(name))?.[1])))
  const before = (version: number) => Array.from({ length: version - 1 }, (_, index) => index + 1)
  const sqlite = versionsOf(SQLITE, /^pragma user_version = (\d+);$/m)
  const postgres = versionsOf(POSTGRES, /^insert into workspace_gateway\."schema_version" .* values \('(\d+)'\);$/m)
  expect(before(SQLITE_VERSION).filter((version) => !sqlite.has(version))).toEqual([])
  expect(before(POSTGRES_VERSION).filter((version) => !postgres.has(version))).toEqual([])
})

describe('on SQLite', () => {
  let fresh: readonly string[]

  beforeAll(async () => {
    const directory = makeDirectory()
    const file = join(directory, 'workspace.db')
    await (await openStore(`file:${file}`, STORE))[Symbol.asyncDispose]()
    fresh = sqliteSchema(file)
    removeDirectory(directory)
  })

  test.each(SQLITE)(
    '%s keeps its tokens, sessions and bytes, accepts writes, and gets the current schema',
    async (name) => {
      const file = join(temporaryDirectory(), 'workspace.db')
      const database = new Database(file)
      database.exec(read(name))
      database.close()
      await expectToGoOn(name, `file:${file}`)
      expect(sqliteSchema(file)).toEqual(fresh)
    },
  )
})

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => {
  let fresh: readonly string[]

  beforeAll(async () => {
    const url = await createDatabase()
    await (await openStore(url, STORE))[Symbol.asyncDispose]()
    fresh = await postgresSchema(url)
    await dropDatabase(url)
  })

  test.each(POSTGRES)(
    '%s keeps its tokens, sessions and bytes, accepts writes, and gets the current schema',
    async (name) => {
      const url = await temporaryDatabase()
      await execute(url, read(name))
      await expectToGoOn(name, url)
      expect(await postgresSchema(url)).toEqual(fresh)
    },
  )
})

/** A later version is mostly the next one. */
function newerThan(known: number, version: number): string {
  return `the database has schema version ${version}, but this program knows only ${known}: use a newer version of the program`
}

test('an SQLite database of a newer version is refused with one sentence, and left unchanged', async () => {
  const file = join(temporaryDirectory(), 'workspace.db')
  await startGateway({ databasePath: file })
  const database = new Database(file)
  const known = Number(database.pragma('user_version', { simple: true }))
  for (const version of [known + 1, 99]) {
    database.pragma(`user_version = ${version}`)
    await expect(startGateway({ databasePath: file })).rejects.toThrow(newerThan(known, version))
    expect(database.pragma('user_version', { simple: true })).toBe(version)
  }
  database.close()
})

test.skipIf(POSTGRES_URL === null)(
  'a PostgreSQL database of a newer version is refused with one sentence, and left unchanged',
  async () => {
    const databaseUrl = await temporaryDatabase()
    await startGateway({ databaseUrl })
    const stored = () => execute(databaseUrl, 'select version from workspace_gateway.schema_version')
    const known = Number((await stored())[0]?.version)
    for (const version of [known + 1, 99]) {
      await execute(databaseUrl, `update workspace_gateway.schema_version set version = ${version}`)
      await expect(startGateway({ databaseUrl })).rejects.toThrow(newerThan(known, version))
      expect(await stored()).toEqual([{ version }])
    }
  },
)

function read(name: string): string {
  return readFileSync(new URL(`${name}.sql`, FIXTURES), 'utf8')
}

/** Checks the tokens, keys, sessions and bytes of then, and that the database accepts writes. */
async function expectToGoOn(name: string, databaseUrl: string): Promise<void> {
  const known: Upgraded = JSON.parse(read(name).split('\n', 1).join('').slice('-- '.length))
  const now = known.at + 60_000
  const names = { issuer: 'workspace-gateway', audience: 'workspace-gateway' }
  const gateway = await startGateway({ databaseUrl, clock: () => now, ...names })
  for (const path of READS) {
    expect((await gateway.get(path, known.accessToken)).text, path).toBe(known.bodies[path])
  }
  const refreshed = await gateway.send('POST', '/token', JSON.stringify({ refreshToken: known.refreshToken }))
  expect(refreshed.status).toBe(200)
  expect((await gateway.get('/projects', refreshed.json().accessToken)).text).toBe(known.bodies['/projects'])
  const ended = await gateway.send('POST', '/token', JSON.stringify({ refreshToken: known.ended }))
  expect(ended.status).toBe(401)
  const { accessToken } = await gateway.login(WORLD_USER)
  await gateway.load(`{"kind":"template","email":"${WORLD_USER}","data":{"id":"t3"}}\n`)
  const templates = await gateway.get('/templates', accessToken)
  expect(templates.text).toBe(known.bodies['/templates']?.replace(/\]$/, ',{"id":"t3"}]'))
  const ofBen = await gateway.get('/exports?r=site', (await gateway.login('ben@example.com')).accessToken)
  expect(ofBen.text).toBe('[{"path":"ben.txt"}]')
  expect((await gateway.send('DELETE', '/logout', JSON.stringify(known))).status).toBe(200)
  expect((await gateway.get('/projects', known.accessToken)).status).toBe(401)
  expect(gateway.reported).toEqual([])
}
