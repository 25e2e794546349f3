// The PostgreSQL store: the contract of all stores, and what only PostgreSQL does.
import { describe, expect, test } from 'vitest'
import { type Change, StoreOpenError, StoreUnavailableError, TracesLeftError } from '../src/store/contract.ts'
import type { MigratableStore } from '../src/store/cutover/contract.ts'
import { hashedEmail } from '../src/store/hashed-email.ts'
import { MOVE_LOCK } from '../src/store/postgres/migrations/2-move.ts'
import { openPostgresStore } from '../src/store/postgres/open.ts'
import { describeChangedReferences } from './contract/changed-references.ts'
import { describeCutover } from './contract/cutover.ts'
import { describeEdits } from './contract/edits.ts'
import { describeMoves } from './contract/moving.ts'
import { describeNeighbours } from './contract/neighbours.ts'
import { describePages } from './contract/pages.ts'
import { emptied, moving } from './contract/postgres-databases.ts'
import { describeStore } from './contract/store.ts'
import { put } from './contract/values.ts'
import { ANA_WORLD } from './support/ana-world.ts'
import { ownPostgres } from './support/own-postgres.ts'
import {
  asNewUser,
  createdDatabases,
  execute,
  openHand,
  POSTGRES_URL,
  temporaryDatabase,
  untilWaiting,
} from './support/postgres.ts'
import { partitionByUser } from './support/postgres-partitions.ts'

/** A long connect timeout, because the machine may be busy. */
const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 10 }

const open = (url: string): Promise<MigratableStore> => openPostgresStore(url, OPTIONS)

describe.skipIf(POSTGRES_URL === null)('postgres', () => {
  const createdDatabase = createdDatabases()

  describeStore('postgres', emptied(open))
  describePages('postgres', emptied(open))
  describeNeighbours('postgres', emptied(open))

  describeStore('postgres with tables hash-partitioned by user', emptied(open, partitionByUser))

  describeEdits('postgres', emptied(open))

  describeEdits('postgres with tables hash-partitioned by user', emptied(open, partitionByUser))

  describeChangedReferences('postgres', emptied(open))
  describeChangedReferences('postgres with tables hash-partitioned by user', emptied(open, partitionByUser))

  describeMoves('postgres', moving(open))
  describeCutover('postgres', moving(open))
  describeMoves('postgres with tables hash-partitioned by user', moving(open, partitionByUser))

  test('a snapshot that cannot be taken leaves no connection behind', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    const others = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    await expect.poll(async () => (await execute(url, others)).length).toBe(0)
    await execute(url, 'alter table workspace_gateway.move rename to move_away')
    await expect(store.openSnapshot()).rejects.toThrow('workspace_gateway.move')
    await expect.poll(async () => (await execute(url, others)).length).toBe(0)
  })

  test('every change by hand in psql raises the revision, whatever the statement', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    await store.applyChanges(ANA_WORLD)
    const revision = async () =>
      Number((await execute(url, 'select revision from workspace_gateway.user'))[0]?.revision)
    const changes = [
      `update workspace_gateway.document set text = '{"id":"p","x":1}' where kind = 'project'`,
      `insert into workspace_gateway.document (user_id, kind, position, id, text) values (1, 'template', 9, 'n', '{}')`,
      `insert into workspace_gateway.document (user_id, kind, position, id, text) values (1, 'template', 9, 'n', '{}')
         on conflict (user_id, kind, position) do update set text = '{"a":1}'`,
      `merge into workspace_gateway.document d using (values (9)) v (p) on d.position = v.p
         when matched then update set text = '{"a":2}'`,
      `delete from workspace_gateway.document where kind = 'template'`,
      'delete from workspace_gateway.export',
      'truncate workspace_gateway.document',
      `update workspace_gateway.user set email = 'eve@example.com'`,
    ]
    for (const change of changes) {
      const before = await revision()
      await execute(url, change)
      expect(await revision(), change).toBeGreaterThan(before)
    }
    expect(await execute(url, 'select 1 from workspace_gateway.export_element')).toEqual([])
    await store.applyChanges(ANA_WORLD)
    await execute(url, 'delete from workspace_gateway.user')
    for (const table of ['document', 'export', 'export_element', 'staged_export']) {
      expect(await execute(url, `select 1 from workspace_gateway.${table}`), table).toEqual([])
    }
  })

  test('an import locks its users in the order of their ids, so that two imports never deadlock', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    // The order of the ids differs from the order of the emails.
    const emails = Array.from({ length: 15 }, (_, index) => `u${(index * 7) % 15}@example.com`)
    for (const email of emails) await store.applyChanges([{ type: 'addUser', email }])
    const hand = await openHand(url, 'begin; select 1 from workspace_gateway.user where id = 8 for update')
    const importing = store.applyChanges(emails.map((email) => put({ email })))
    await untilWaiting(url)
    const free = await execute(url, 'select id::int from workspace_gateway.user order by id for update skip locked')
    expect(free.map(({ id }) => id)).toEqual([9, 10, 11, 12, 13, 14, 15])
    await hand.query('rollback')
    expect(await importing).toEqual(Array(15).fill('added'))
  })

  /** A database that is being moved, and another connection with an open transaction that has run `statements`. */
  async function duringMove(statements: string) {
    const url = await createdDatabase()
    const store = await open(url)
    await store.applyChanges(ANA_WORLD)
    await store.beginMove({ id: 'm', other: 'x' })
    const hand = await openHand(url, `begin; ${statements}`)
    return { url, store, hand, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
  }

  test('an import that waits for a move to fence its database blocks nobody else', async () => {
    await using database = await duringMove(`select pg_advisory_xact_lock(${MOVE_LOCK})`)
    const { url, store, hand } = database
    const importing = store.applyChanges([projectOf('ana@example.com', 'q')])
    await untilWaiting(url)
    expect(await execute(url, 'select 1 from workspace_gateway.user for update skip locked')).toHaveLength(1)
    await hand.query('rollback')
    expect(await importing).toEqual(['added'])
  })

  test('a move fences its database after the writes in flight, and logs what they change', async () => {
    await using database = await duringMove(`update workspace_gateway.document set text = '2'`)
    const { url, store, hand } = database
    let isClosed = false
    const closing = store.fenceWrites('m', 30_000).then((answer) => {
      isClosed = true
      return answer
    })
    const waits = `select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
    await expect.poll(() => execute(url, waits)).toHaveLength(1)
    expect(isClosed).toBe(false)
    await hand.query('commit')
    await hand.end()
    expect(await closing).toBe(true)
    expect((await store.drainChangeLog('m'))?.users).toHaveLength(1)
    // No step of the move leaves a connection of its own behind.
    const connections = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    const { idle, used } = (await store.statistics(0)).pools[0] ?? { idle: 0, used: 0 }
    await expect.poll(() => execute(url, connections)).toHaveLength(idle + used)
  })

  describe('a removal and an audit entry of the same email at the same time', () => {
    const email = 'ana@example.com'
    const entry = { at: 1, kind: 'login', result: 'done', network: '', detail: '', count: 1, who: email }
    /** Runs `write` while another transaction that has run `statements` is open. Returns whom the audit log names. */
    async function namesAfter(
      statements: (hash: string) => string,
      write: (store: MigratableStore) => unknown,
    ): Promise<readonly unknown[]> {
      const url = await createdDatabase()
      await using store = await open(url)
      await store.applyChanges(ANA_WORLD)
      const hash = hashedEmail(email, await store.auditSalt())
      const other = await openHand(url, `begin; set search_path to workspace_gateway; ${statements(hash)}`)
      const writing = write(store)
      await untilWaiting(url)
      await other.query('commit')
      await writing
      const found = await store.auditEntries({ from: null, to: null, kind: null, who: null }, 0, 9)
      return found.map(({ who }) => (who === hash ? 'hash' : who))
    }

    test('leave only the hash when the removal waits for the entry', async () => {
      const names = await namesAfter(
        () => `select salt from audit_salt for share;
          insert into audit_entry (at, kind, result, who, network, detail, count) values (1, 'login', 'done', '${email}', '', '', 1)`,
        (store) => store.removeUsers([email]),
      )
      expect(names).toEqual(['hash'])
    })

    test('leave only the hash when the entry waits for the removal', async () => {
      const names = await namesAfter(
        (hash) =>
          `select salt from audit_salt for no key update; insert into removed_name select '${hash}', ${Date.now()}`,
        (store) =>
          store.addAuditEntries({ writer: 'w', sequence: 1, entries: [entry, { ...entry, who: 'ben@example.com' }] }),
      )
      expect(names).toEqual(['hash', 'ben@example.com'])
    })
  })

  test('a move that is cancelled while it begins adds no trigger afterwards', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    // The first table that gets a trigger, so that there is none yet.
    const hand = await openHand(url, 'begin; lock table workspace_gateway.user')
    const beginning = store.beginMove({ id: 'm', other: 'x' })
    await untilWaiting(url)
    // The row is unlocked whenever the step has given way.
    await execute(url, `update workspace_gateway.move set phase = 'live'`)
    await hand.query('rollback')
    await beginning
    expect(await execute(url, `select tgname from pg_trigger where tgname like 'move%'`)).toEqual([])
  })

  test('a migration that fails leaves the database as it was', async () => {
    const url = await temporaryDatabase()
    const made = `create schema workspace_gateway; create table workspace_gateway.schema_version (version integer);
      insert into workspace_gateway.schema_version values (0)`
    await execute(url, `${made}; create table workspace_gateway.move (of_whom text)`)
    const refused: unknown = await open(url).catch((error: unknown) => error)
    expect(String(refused)).toContain('"move" already exists')
    expect(refused).not.toBeInstanceOf(StoreUnavailableError)
    const tables = `select relname from pg_class where relnamespace = 'workspace_gateway'::regnamespace order by 1`
    expect(await execute(url, tables)).toEqual([{ relname: 'move' }, { relname: 'schema_version' }])
  })

  const ownDatabase = ownPostgres()

  test('removing or resealing a signing key writes its table to a new file', async () => {
    const url = await ownDatabase()
    await using store = await open(url)
    await store.addSigningKey({ kid: 'k', privateJwk: 'a', createdAt: 0 }, null)
    const file = async () =>
      (await execute(url, `select pg_relation_filenode('workspace_gateway.signing_key') as n`))[0]?.n
    const files = [await file()]
    await store.rewriteSigningKeys([{ kid: 'k', privateJwk: 'b' }])
    files.push(await file())
    await store.removeSigningKey('k')
    files.push(await file())
    expect(new Set(files).size).toBe(3)
  })

  describe('a signing key whose private part cannot leave the file of its table', () => {
    const SECRETS = ['first-secret', 'second-secret']

    async function prepare(options: { readonly connectTimeoutMs: number; readonly statementTimeoutMs: number }) {
      const url = await ownDatabase()
      const store = await openPostgresStore(url, { ...OPTIONS, ...options })
      await store.addSigningKey({ kid: 'k', privateJwk: SECRETS[0] ?? '', createdAt: 0 }, null)
      const inFile = async () => {
        await execute(url, 'checkpoint')
        const file = `pg_read_binary_file(pg_relation_filepath('workspace_gateway.signing_key'))`
        const found = SECRETS.map((secret) => `position('${secret}'::bytea in ${file}) > 0`).join(', ')
        return Object.values((await execute(url, `select array[${found}]::text as found`))[0] ?? {})
      }
      /** Both steps are done, and report that the private part is still in the file. */
      async function change(reason: RegExp): Promise<void> {
        for (const step of [
          () => store.rewriteSigningKeys([{ kid: 'k', privateJwk: SECRETS[1] ?? '' }]),
          () => store.removeSigningKey('k'),
        ]) {
          const error: unknown = await Promise.resolve(step()).catch((thrown: unknown) => thrown)
          expect(error).toBeInstanceOf(TracesLeftError)
          expect(String(error)).toMatch(reason)
        }
        expect(await store.signingKeys()).toEqual([])
        expect(await inFile()).toEqual(['{t,t}'])
        expect(await store.removeSigningKey('k')).toBe(false)
      }
      return { url, store, inFile, change }
    }

    test('is reported while somebody reads an older state, and is gone after the next rewrite', async () => {
      const { url, store, inFile, change } = await prepare({ connectTimeoutMs: 2_000, statementTimeoutMs: 10_000 })
      await using closing = store
      const reader = await openHand(url, 'begin isolation level repeatable read; select 1')
      await change(/another process still reads an older state/)
      // Even a rewritten file would still contain it.
      await closing.rewrite()
      expect(await inFile()).toEqual(['{t,t}'])
      await reader.query('commit')
      await closing.rewrite()
      expect(await inFile()).toEqual(['{f,f}'])
    })

    test('is reported while the table is locked', async () => {
      const { url, store, change } = await prepare({ connectTimeoutMs: 2_000, statementTimeoutMs: 10_000 })
      await using _ = store
      const hand = await openHand(url, 'begin; lock table workspace_gateway.signing_key in access share mode')
      await change(/keeps the table of the signing keys locked/)
      await hand.query('rollback')
    })
  })

  test('giving a document to another user by hand changes the revision and the state version of both users', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    await store.applyChanges([...ANA_WORLD, { type: 'addUser', email: 'ben@example.com' }])
    const users = () => execute(url, 'select revision::int, stamp from workspace_gateway.user order by id')
    const before = await users()
    await execute(url, `update workspace_gateway.document set user_id = 2 where kind = 'template'`)
    ;(await users()).forEach(({ revision, stamp }, index) => {
      expect(revision).toBeGreaterThan(Number(before[index]?.revision))
      expect(stamp).not.toBe(before[index]?.stamp)
    })
  })

  test('giving a project to another user by hand, with another reference, leaves the exports of the user as they are', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    await store.applyChanges([...ANA_WORLD, { type: 'addUser', email: 'ben@example.com' }])
    const exports = () => execute(url, 'select user_id::int, id::int, ref from workspace_gateway.export order by id')
    const before = await exports()
    expect(before).not.toEqual([])
    await execute(url, `update workspace_gateway.document set user_id = 2, ref = 'other' where kind = 'project'`)
    expect(await exports()).toEqual(before)
  })

  test('a move that cannot get its locks gives way and retries until it gets them', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    await store.applyChanges(ANA_WORLD)
    const hand = await openHand(url, 'begin; lock table workspace_gateway.document')
    const beginning = store.beginMove({ id: 'm', other: 'x' })
    const waits = new Set<string>()
    const look = async () => {
      const waiting = `select xact_start::text as since from pg_stat_activity where wait_event_type = 'Lock'`
      for (const { since } of await execute(url, waiting)) waits.add(String(since))
      return waits.size
    }
    await expect.poll(look).toBeGreaterThan(1)
    await hand.query('rollback')
    expect(await beginning).toBe(true)
    expect(await store.moveState()).toMatchObject({ phase: 'copying' })
  })

  test('a transaction with an older snapshot cannot slip a write past the fence of a move', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    await store.applyChanges(ANA_WORLD)
    await store.beginMove({ id: 'm', other: 'x' })
    for (const isolation of ['repeatable read', 'serializable']) {
      const hand = await openHand(url, `begin isolation level ${isolation}; select 1 from workspace_gateway.user`)
      await store.fenceWrites('m', 30_000)
      await expect(hand.query(`update workspace_gateway.document set text = '2'`), isolation).rejects.toThrow(
        'could not serialize',
      )
      await hand.end()
      await store.unfenceWrites('m')
    }
  })

  test('an export cannot be modified by hand in psql', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    await store.applyChanges(ANA_WORLD)
    for (const change of [
      `update workspace_gateway.export set digest = 'x'`,
      'truncate workspace_gateway.export',
      `update workspace_gateway.export_element set text = '2'`,
      'delete from workspace_gateway.export_element',
      'truncate workspace_gateway.export_element',
      `insert into workspace_gateway.export_element values (1, 1, 2, '2')`,
    ]) {
      await expect(execute(url, change), change).rejects.toThrow(/immutable|staged/)
    }
  })

  test('names of any length and alphabet are distinguished', async () => {
    await using store = await open(await createdDatabase())
    const names = [
      'a\\0',
      'é'.repeat(1_024),
      '漢'.repeat(1_024),
      `${'漢'.repeat(1_024)}1`,
      '9'.repeat(9_000),
      "'",
      '😀',
      ' ',
      '{a,"b"}',
      'NULL',
    ]
    await store.applyChanges(names.map((name) => ({ ...projectOf('ana@example.com', name), ref: name })))
    const user = await store.userByEmail('ana@example.com')
    const found = await store.projectsByRef(
      [...names, 'a\0', '\ud800', ''].map((ref) => ({ userId: user?.id ?? 0, ref })),
    )
    expect(found.map((project) => project?.ref ?? null)).toEqual([...names, null, null, null])
  })

  test('an import into an empty database finds documents through indexes, not by sequential scans', async () => {
    const url = await createdDatabase()
    const store = await open(url)
    for (let round = 0; round < 40; round += 1) {
      const changes = Array.from({ length: 50 }, (_, index) => projectOf(`u${index}@example.com`, `p${round}`))
      await store.projectIdsByRef(changes.map(({ email, id: ref }) => ({ email, ref })))
      expect(new Set(await store.applyChanges(changes))).toEqual(new Set(['added']))
    }
    // The connections report what they have read when they end.
    await store[Symbol.asyncDispose]()
    const read = () =>
      execute(url, `select n_tup_ins::int, seq_tup_read::int from pg_stat_user_tables where relname = 'document'`)
    await expect.poll(read).toMatchObject([{ n_tup_ins: 2_000 }])
    const [{ seq_tup_read } = {}] = await read()
    expect(seq_tup_read).toBeLessThan(2_000)
  })

  test('lookups by id and by reference use an index for any number of names, never a sequential scan', async () => {
    const url = await createdDatabase()
    const store = await open(url)
    const count = 5_000
    await store.applyChanges([projectOf('ana@example.com', 'p')])
    const userId = (await store.userByEmail('ana@example.com'))?.id ?? 0
    await execute(
      url,
      `insert into workspace_gateway.document (user_id, kind, position, id, ref, text)
        select ${userId}, 'project', n + 1, n, n, '1' from generate_series(1, ${count}) n;
      insert into workspace_gateway.export (user_id, id, ref, created_at, instant, digest, byte_length, element_count)
        select ${userId}, n, n, '', '2026', 'd', 1, 0 from generate_series(1, ${count}) n;
      analyze`,
    )
    // Counts only the reads from now on.
    await execute(url, 'select pg_stat_reset()')
    const names = Array.from({ length: 50 }, (_, index) => String(1 + index * 17))
    // More than five executions: after five, PostgreSQL may use a generic plan.
    for (let round = 0; round < 8; round += 1) {
      const refs = names.map((ref) => ({ userId, ref }))
      const found = await Promise.all([
        store.documentsById(names.map((id) => ({ userId, kind: 'project', id }))),
        store.projectsByRef(refs),
        store.latestExports(refs),
        store.exportsByKey(refs.map((ref) => ({ ...ref, instant: '2026', digest: 'd' }))),
      ])
      expect(found.map((items) => items.map((item) => item?.ref))).toEqual(found.map(() => names))
    }
    await store[Symbol.asyncDispose]()
    const read = (column: string) =>
      execute(
        url,
        `select relname, ${column}::int as n from pg_stat_user_tables where relname in ('document', 'export') order by 1`,
      )
    await expect.poll(async () => (await read('idx_scan')).every(({ n }) => Number(n) > 0)).toBe(true)
    expect(await read('seq_tup_read')).toEqual([
      { relname: 'document', n: 0 },
      { relname: 'export', n: 0 },
    ])
  })

  test('a database of another program, of a newer version or not in UTF-8 is refused and stays as it is', async () => {
    /** The columns of all tables, the objects of the schema, and the recorded version. */
    const stateOf = async (url: string, version = 'null') => [
      await execute(
        url,
        `select table_name, column_name, data_type from information_schema.columns
         where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2`,
      ),
      await execute(
        url,
        `select relname, relkind from pg_class join pg_namespace n on n.oid = relnamespace
         where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1`,
      ),
      await execute(url, `select nspname from pg_namespace where nspname !~ '^pg_' order by 1`),
      await execute(url, `select ${version} as version`),
    ]
    const foreign = await temporaryDatabase()
    await execute(foreign, 'create schema workspace_gateway; create table workspace_gateway.notes (text text)')
    const notes = await stateOf(foreign)
    await expect(open(foreign)).rejects.toThrow('another program')
    expect(await stateOf(foreign)).toEqual(notes)
    const newer = await temporaryDatabase()
    await (await open(newer))[Symbol.asyncDispose]()
    await execute(newer, 'update workspace_gateway.schema_version set version = 99')
    const version = '(select version from workspace_gateway.schema_version)'
    const written = await stateOf(newer, version)
    await expect(open(newer)).rejects.toThrow('newer version')
    expect(await stateOf(newer, version)).toEqual(written)
    const empty = await temporaryDatabase()
    await expect(openPostgresStore(empty, { ...OPTIONS, mustExist: true })).rejects.toThrow('no tables of this program')
    const nothing = [[], [], [{ nspname: 'information_schema' }, { nspname: 'public' }], [{ version: null }]]
    expect(await stateOf(empty)).toEqual(nothing)
    const latin = await temporaryDatabase('SQL_ASCII')
    await expect(open(latin)).rejects.toThrow('UTF8')
    expect(await stateOf(latin)).toEqual(nothing)
  })

  test('eight stores opened at once on an empty database all come up', async () => {
    const url = await temporaryDatabase()
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(url)))
    for (const store of stores) await store.ping()
    for (const store of stores) await store[Symbol.asyncDispose]()
  })

  describe('a user who is being added', () => {
    const [ANA, BEN] = ['ana@example.com', 'ben@example.com']

    /** Starts the step while a transaction adds the user, and ends the transaction once the step waits for it. */
    async function meeting<T>(url: string, email: string, end: 'commit' | 'rollback', step: () => T) {
      const hand = await openHand(url, 'begin')
      await hand.query('insert into workspace_gateway.user (email) values ($1)', [email])
      const answer = step()
      await untilWaiting(url)
      await hand.query(end)
      return await answer
    }

    test('keeps the email from a rename if the transaction commits, and frees it if the transaction rolls back', async () => {
      const url = await createdDatabase()
      await using store = await open(url)
      await store.applyChanges(ANA_WORLD)
      const emails = async () => (await store.usersAfter('', 9)).map(({ email }) => email)
      expect(await meeting(url, BEN, 'commit', () => store.renameUser(ANA, BEN))).toBe('taken')
      expect(await emails()).toEqual([ANA, BEN])
      const free = 'carl@example.com'
      expect(await meeting(url, free, 'rollback', () => store.renameUser(ANA, free))).toBe('renamed')
      expect(await emails()).toEqual([BEN, free])
    })

    test('lets at most one of two concurrent renames take the same email', async () => {
      const url = await createdDatabase()
      await using store = await open(url)
      for (let round = 0; round < 10; round += 1) {
        const [one, other, email] = ['one', 'other', 'new'].map((name) => `${name}-${round}@example.com`) as [
          string,
          string,
          string,
        ]
        await store.applyChanges([projectOf(one, 'a'), projectOf(other, 'b')])
        const [outcomes, imported] = await Promise.all([
          Promise.all([store.renameUser(one, email), store.renameUser(other, email)]),
          store.applyChanges([projectOf(email, 'c')]),
        ])
        expect(imported).toEqual(['added'])
        const renamed = outcomes.filter((outcome) => outcome === 'renamed').length
        expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(2 - renamed)
        expect(renamed).toBeLessThan(2)
        const held = await store.holdingsOf([one, other, email])
        expect(held.map((holdings) => holdings?.projects)).toEqual([
          outcomes[0] === 'renamed' ? undefined : 1,
          outcomes[1] === 'renamed' ? undefined : 1,
          1 + renamed,
        ])
      }
    })

    // More documents than can be swapped within the statement timeout need another kind of transaction.
    test.each([1, 10_001])('receives the %i documents of a replacement that waits for it', async (count) => {
      const url = await createdDatabase()
      await using store = await open(url)
      await store.beginReplacement('r', 1)
      const steps = Array.from({ length: count }, (_, n) => {
        return { ...projectOf(BEN, `${n}`), type: 'stageDocument' } as const
      })
      await store.stageReplacement('r', steps, 1)
      const question = { replacement: 'r', after: '', maxDocuments: 1, isDryRun: false, now: 1 }
      const swapped = await meeting(url, BEN, 'commit', () => store.swapReplacement(question))
      expect(swapped).toEqual([{ email: BEN, added: count, replaced: 0, unchanged: 0, removed: 0 }])
      expect((await store.holdingsOf([BEN]))[0]?.projects).toBe(count)
    })
  })

  test('imports that change the same users in opposite orders all succeed', async () => {
    const url = await createdDatabase()
    await using store = await open(url)
    const emails = Array.from({ length: 20 }, (_, index) => `u${index}@example.com`)
    const batches = Array.from({ length: 20 }, (_, round) =>
      (round % 2 ? emails : emails.toReversed()).map((email) => projectOf(email, `p${round}`)),
    )
    const outcomes = await Promise.all(batches.map((batch) => store.applyChanges(batch)))
    expect(new Set(outcomes.flat())).toEqual(new Set(['added']))
  })

  // A step of a replacement locks the replacement first, then its user.
  test.each<[what: string, act: (store: MigratableStore) => unknown]>([
    ['a removal', (store) => store.removeUsers(['ana@example.com'])],
    ['a removal record', (store) => store.applyChanges([{ type: 'removeUser', email: 'ana@example.com' }])],
    ['a new email', (store) => store.renameUser('ana@example.com', 'carl@example.com')],
  ])(
    '%s locks the replacements of a user before the user, so it cannot deadlock with a step of one',
    async (_, act) => {
      const url = await createdDatabase()
      await using store = await open(url)
      await store.applyChanges([projectOf('ana@example.com', 'p')])
      await store.beginReplacement('r', Date.now())
      await store.stageReplacement(
        'r',
        [{ type: 'stageDocument', email: 'ana@example.com', kind: 'project', id: 'p', ref: 'p', text: '{}' }],
        Date.now(),
      )
      const hand = await openHand(url, `begin; select 1 from workspace_gateway.replacement where name = 'r' for update`)
      const acting = act(store)
      await untilWaiting(url)
      await hand.query(`select 1 from workspace_gateway.user where email = 'ana@example.com' for update nowait`)
      await hand.query('rollback')
      await acting
    },
  )

  test('an error while opening a database says why it failed, and whether waiting may help', async () => {
    const thrown = async (change: Partial<URL>) => {
      const url = Object.assign(new URL(POSTGRES_URL ?? ''), change)
      return (await open(url.href).catch((error: unknown) => error)) as Error
    }
    const refused = await thrown({ pathname: '/nothing_here' })
    expect(refused).toBeInstanceOf(StoreOpenError)
    expect(refused.message).toBe('cannot open the database: database "nothing_here" does not exist')
    const { username, password, pathname } = new URL(await asNewUser(await temporaryDatabase()))
    const powerless = await thrown({ username, password, pathname })
    expect(powerless).toBeInstanceOf(StoreOpenError)
    expect(powerless.message).toMatch(/^cannot open the database: permission denied/)
    const unreachable = await thrown({ port: '1' })
    expect(unreachable).toBeInstanceOf(StoreUnavailableError)
    expect(unreachable.message).toMatch(/^no database server that accepts writes can be reached: connect ECONNREFUSED/)
  })

  test('an error of several hosts names each of them with its reason', async () => {
    const url = await temporaryDatabase()
    const { host, hostname, port, pathname } = new URL(url)
    await execute(url, `alter database ${pathname.slice(1)} set default_transaction_read_only = on`)
    const opening = open(url.replace(host, `127.0.0.1:1,${host}`))
    await expect(opening).rejects.toThrow(
      'no database server that accepts writes can be reached: 127.0.0.1 port 1: connect ECONNREFUSED 127.0.0.1:1; ' +
        `${hostname} port ${port}: the server accepts no writes`,
    )
  })

  test('a replica that is being queried while the store closes is not reported as failed', async () => {
    const url = await temporaryDatabase()
    const other = await temporaryDatabase()
    await (await open(other))[Symbol.asyncDispose]()
    const hand = await openHand(other, 'begin; lock table workspace_gateway.user')
    const told: boolean[] = []
    const onChange = (isHealthy: boolean) => told.push(isHealthy)
    const store = await openPostgresStore(url, { ...OPTIONS, replica: { url: other, timeoutMs: 60_000, onChange } })
    await untilWaiting(other)
    await store[Symbol.asyncDispose]()
    await hand.query('rollback')
    expect(told).toEqual([])
  })

  test('no error while opening a database contains the password', async () => {
    const url = new URL(POSTGRES_URL ?? '')
    const { password } = url
    for (const broken of [
      Object.assign(new URL(url), { pathname: '/nothing_here' }),
      Object.assign(new URL(url), { username: 'nobody_here' }),
      Object.assign(new URL(url), { port: '1' }),
    ]) {
      const error: unknown = await open(broken.href).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Error)
      expect(deepText(error)).not.toContain(password)
    }
  })
})

function projectOf(email: string, id: string): Extract<Change, { type: 'putDocument' }> {
  return { type: 'putDocument', email, kind: 'project', id, ref: id, text: '{}' }
}

function deepText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors : []
  return [error.stack, JSON.stringify(error), deepText(error.cause), ...inner.map(deepText)].join('\n')
}
