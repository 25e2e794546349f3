// Tests that PostgreSQL is restored to past moments from an archive of its write-ahead log, with the settings that the
// documentation shows.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chown, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { execute, POSTGRES_DIRECTORY, temporaryServer } from '../support/postgres.ts'
import { type PostgresServer, SERVER_USER } from '../support/postgres-server.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { makeDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

const MOMENTS = Number(process.env.TEST_RESTORED_MOMENTS ?? 1)
const DATABASE = 'workspaces'
const PAPER = readFileSync(new URL('../../docs/operate/backups.md', import.meta.url), 'utf8')

const run = promisify(execFile)
const random = createSeededRandom(Date.now())

interface Ledger {
  /** When write n, counted from 0, began and when it was acknowledged, in milliseconds since the epoch. */
  readonly begun: number[]
  readonly acknowledged: number[]
}

/** Reads a postgresql.conf from the documentation, with the path of another archive. */
function shownSettings(beginning: string, archive: string): Readonly<Record<string, string>> {
  const [, shown = ''] = PAPER.split(`\`\`\`ini\n# ${beginning}\n`)
  const lines = (shown.split('```')[0] ?? '').trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(/ = (.*)/s)
      return [name, value.replace(/^'(.*)'$/, '$1').replaceAll('/mnt/archive', archive)]
    }),
  )
}

/** Makes a folder that belongs to the server's user, removed at the end of the test. */
async function folderOfServer(): Promise<string> {
  const folder = makeDirectory()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { uid, gid } = SERVER_USER
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
  return folder
}

/** Does what `pg_basebackup` does, which is not among the programs from npm (PostgreSQL's manual, section 25.3.4). */
async function makeBaseBackup({ url, dataDirectory }: PostgresServer): Promise<string> {
  const base = join(await folderOfServer(), 'base')
  const client = new Client({ connectionString: url('postgres') })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('base', fast => true)`)
    await run('cp', ['-a', dataDirectory, base], SERVER_USER)
    const { rows } = await client.query('select labelfile from pg_backup_stop(wait_for_archive => false)')
    await rm(join(base, 'pg_wal'), { recursive: true })
    await rm(join(base, 'postmaster.pid'))
    await mkdir(join(base, 'pg_wal'), { mode: 0o700 })
    const { uid, gid } = SERVER_USER
    if (uid !== undefined && gid !== undefined) await chown(join(base, 'pg_wal'), uid, gid)
    await writeFile(join(base, 'backup_label'), rows[0].labelfile, { mode: 0o644 })
    return base
  } finally {
    await client.end()
  }
}

async function write({ store }: TestGateway, { begun, acknowledged }: Ledger): Promise<void> {
  const n = begun.length
  begun.push(Date.now())
  await store.applyChanges([
    { type: 'putDocument', email: ANA, kind: 'project', id: 'p', ref: 'p', text: `{"id":"p","n":${n}}` },
    { type: 'putDocument', email: ANA, kind: 'template', id: `${n}`, ref: null, text: `{"n":${n}}` },
  ])
  acknowledged.push(Date.now())
}

/** Writes until the returned function is called; at least a millisecond lies between two writes. */
function writeAlways(gateway: TestGateway, ledger: Ledger): () => Promise<void> {
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      await write(gateway, ledger)
      await delay(1 + random.below(10))
    }
  })()
  return async () => {
    isOver = true
    await writing
  }
}

async function untilArchived({ url }: PostgresServer): Promise<void> {
  const [switched] = await execute(url('postgres'), 'select pg_walfile_name(pg_switch_wal()) as name')
  const archived = () => execute(url('postgres'), 'select last_archived_wal as name from pg_stat_archiver')
  await expect.poll(async () => String((await archived())[0]?.name) >= String(switched?.name)).toBe(true)
}

async function restoreTo(moment: number, base: string, archive: string): Promise<PostgresServer> {
  const settings = {
    ...shownSettings('postgresql.conf, of the server that is restored', archive),
    recovery_target_time: new Date(moment).toISOString().replace('T', ' ').replace('Z', '+00'),
  }
  const server = await temporaryServer({ baseBackup: base, files: { 'recovery.signal': '' }, settings })
  const recovering = () => execute(server.url('postgres'), 'select pg_is_in_recovery() as is')
  await expect.poll(async () => (await recovering())[0]?.is).toBe(false)
  return server
}

describe.skipIf(POSTGRES_DIRECTORY === null)('a PostgreSQL restored from its archive', () => {
  test(`has the state of the moment, and refuses old tokens once its sessions are deleted (${MOMENTS} moments)`, {
    timeout: 60_000 + MOMENTS * 30_000,
  }, async () => {
    const archive = await folderOfServer()
    const server = await temporaryServer({ settings: shownSettings('postgresql.conf', archive) })
    await execute(server.url('postgres'), `create database ${DATABASE}`)
    const gateway = await startGateway({ databaseUrl: server.url(DATABASE) })
    await gateway.load(documentLine('uiLibrary', ANA, '{"id":"u"}'))
    const { accessToken } = await gateway.login(ANA)
    const base = await makeBaseBackup(server)
    const ledger: Ledger = { begun: [], acknowledged: [] }
    await write(gateway, ledger)
    const from = Date.now()
    const stop = writeAlways(gateway, ledger)
    await expect.poll(() => ledger.acknowledged.length).toBeGreaterThan(100)
    const moments = Array.from({ length: MOMENTS }, () => from + random.below(Date.now() - from))
    await stop()
    // PostgreSQL never reaches a target that is later than everything in the archive.
    await write(gateway, ledger)
    await untilArchived(server)

    for (const moment of moments) {
      const restored = await restoreTo(moment, base, archive)
      const again = await startGateway({ databaseUrl: restored.url(DATABASE) })
      const templates = await again.get('/templates', accessToken)
      expect(templates.status).toBe(200)
      const count = templates.json().length
      expect(templates.text).toBe(`[${Array.from({ length: count }, (_, n) => `{"n":${n}}`).join(',')}]`)
      expect((await again.get('/projects', accessToken)).text).toBe(`[{"id":"p","n":${count - 1}}]`)
      // A write within the millisecond of the moment may be included or not.
      expect(count).toBeGreaterThanOrEqual(ledger.acknowledged.filter((time) => time < moment).length)
      expect(count).toBeLessThanOrEqual(ledger.begun.filter((time) => time <= moment).length)

      const [endSessions = ''] = /delete from workspace_gateway\.session/.exec(PAPER) ?? []
      await execute(restored.url(DATABASE), endSessions)
      const afterwards = await startGateway({ databaseUrl: restored.url(DATABASE) })
      expect((await afterwards.get('/templates', accessToken)).status).toBe(401)
    }
  })
})
