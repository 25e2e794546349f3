import { describe, expect, test } from 'vitest'
import { type Finished, runHere } from '../support/command-line.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { execute, openHand, POSTGRES_DIRECTORY, temporaryServer } from '../support/postgres.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const TABLE = 'workspace_gateway.signing_key'
const IS_READ = 'another process still reads an older state of the database'

/** Prepares a database with a single signing key. */
async function withKey(url: string) {
  await runHere(['import', '-', '--database', url], { stdin: SMALL_WORLD })
  await runHere(['keys', 'rotate', '--database', url])
  const [key] = await execute(url, `select kid, private_jwk::json ->> 'd' as secret from ${TABLE}`)
  return {
    retire: (as = url) =>
      runHere(['keys', 'retire', '--force', '--database', as, '--connect-timeout', '2000', '--', String(key?.kid)]),
    async isInFile() {
      await execute(url, 'checkpoint')
      const file = `pg_read_binary_file(pg_relation_filepath('${TABLE}'))`
      const [found] = await execute(url, `select (position('${key?.secret}'::bytea in ${file}) > 0)::text as "isThere"`)
      return found?.isThere === 'true'
    },
  }
}

/** Rewriting the file does not remove the key yet. */
async function expectKept(url: string, isInFile: () => Promise<boolean>): Promise<void> {
  expect((await runHere(['vacuum', '--full', '--database', url])).exitCode).toBe(0)
  expect(await isInFile()).toBe(true)
}

function expectTold({ exitCode, stdout, stderr }: Finished, reason: string): void {
  expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/ was removed\n$/)])
  expect(stderr).toContain(`the private part may still be in the files of the database (${reason})`)
}

describe.skipIf(POSTGRES_DIRECTORY === null)('keys retire reports that a removed key may remain in the files', () => {
  const ownDatabase = ownPostgres()

  test('because of a prepared transaction; a rewrite after its end removes the key', async () => {
    const server = await temporaryServer({ settings: { max_prepared_transactions: '2' } })
    const url = server.url('postgres')
    const { retire, isInFile } = await withKey(url)
    await execute(url, `begin; select pg_current_xact_id(); prepare transaction 'of somebody'`)
    expectTold(await retire(), IS_READ)
    await expectKept(url, isInFile)
    await execute(url, `rollback prepared 'of somebody'`)
    expect((await runHere(['vacuum', '--full', '--database', url])).exitCode).toBe(0)
    expect(await isInFile()).toBe(false)
  })

  test('because of an open transaction that has written and reads nothing now', async () => {
    const url = await ownDatabase()
    const { retire, isInFile } = await withKey(url)
    await openHand(url, 'begin; select pg_current_xact_id()')
    expectTold(await retire(), IS_READ)
    await expectKept(url, isInFile)
  })

  test('because of an open transaction in another database of the server', async () => {
    const url = await ownDatabase()
    const { retire, isInFile } = await withKey(url)
    await openHand(await ownDatabase(), 'begin; select pg_current_xact_id()')
    expectTold(await retire(), IS_READ)
    await expectKept(url, isInFile)
  })

  test('because of an idle transaction that has read the keys, behind which nobody has to queue meanwhile', async () => {
    const url = await ownDatabase()
    const { retire } = await withKey(url)
    await openHand(url, `begin; select 1 from ${TABLE}`)
    let isOver = false
    const retiring = retire().finally(() => {
      isOver = true
    })
    const queued: unknown[] = []
    while (!isOver) {
      queued.push(
        ...(await execute(url, `select mode from pg_locks where relation = '${TABLE}'::regclass and not granted`)),
      )
    }
    expect(queued).toEqual([])
    expectTold(await retiring, 'another transaction keeps the table of the signing keys locked')
  })

  test('because of a reader on a standby with a replication slot', async () => {
    const primary = await temporaryServer()
    const url = primary.url('postgres')
    const { retire, isInFile } = await withKey(url)
    await execute(url, `select pg_create_physical_replication_slot('of_standby')`)
    await primary.stop()
    const standby = await temporaryServer({
      standbyOf: primary,
      settings: {
        primary_conninfo: primary.url(''),
        primary_slot_name: 'of_standby',
        hot_standby_feedback: 'on',
        wal_receiver_status_interval: '1s',
        wal_retrieve_retry_interval: '100ms',
      },
    })
    await primary.start()
    await openHand(standby.url('postgres'), 'begin; set transaction isolation level repeatable read; select 1')
    const kept = 'select 1 from pg_replication_slots where xmin is not null'
    await expect.poll(() => execute(url, kept)).toHaveLength(1)
    expectTold(await retire(), IS_READ)
    await expectKept(url, isInFile)
  })

  test('because the role does not own the table, which the server then does not rewrite', async () => {
    const url = await ownDatabase()
    const { retire, isInFile } = await withKey(url)
    const [username, password] = ['reader', 'of-who-looks']
    const all = 'in schema workspace_gateway'
    await execute(
      url,
      `create role ${username} login password '${password}'; grant usage on schema workspace_gateway to ${username};
       grant all on all tables ${all} to ${username}; revoke maintain on all tables ${all} from ${username}`,
    )
    const other = Object.assign(new URL(url), { username, password }).href
    expectTold(await retire(other), `only the owner of the table ${TABLE} can rewrite it`)
    expect(await isInFile()).toBe(true)
    // The first of the tables that it does not own is named.
    const { exitCode, stdout, stderr } = await runHere(['vacuum', '--full', '--database', other])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/only the owner of the table workspace_gateway\.\w+ can rewrite it/)
  })
})

describe.skipIf(POSTGRES_DIRECTORY === null)('a removed user', () => {
  const ownDatabase = ownPostgres()

  test('is still in the files of the tables after a vacuum, and no longer after vacuum --full', async () => {
    const url = await ownDatabase()
    const stdin = [BEN, ANA].map((email) => documentLine('template', email, `{"id":"t","of":"of-${email}"}`)).join('')
    await runHere(['import', '-', '--database', url], { stdin })
    await runHere(['users', 'remove', ANA, '--database', url])
    const filesWith = async (text: string) => {
      await execute(url, 'checkpoint')
      const of = `relnamespace = 'workspace_gateway'::regnamespace`
      const files = await execute(
        url,
        `select oid::regclass::text as name from pg_class
          where (${of} or oid in (select reltoastrelid from pg_class where ${of})) and relkind in ('r', 'i', 't')
            and position('${text}'::bytea in pg_read_binary_file(pg_relation_filepath(oid))) > 0`,
      )
      return files.map(({ name }) => name)
    }
    expect((await runHere(['vacuum', '--database', url])).exitCode).toBe(0)
    expect(await filesWith(`of-${ANA}`)).toEqual(['workspace_gateway.document'])
    expect((await runHere(['vacuum', '--full', '--database', url])).exitCode).toBe(0)
    expect(await filesWith(`of-${ANA}`)).toEqual([])
    expect(await filesWith(ANA)).toEqual([])
    expect(await filesWith(`of-${BEN}`)).toEqual(['workspace_gateway.document'])
  })
})
