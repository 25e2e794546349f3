// Stores signing keys in PostgreSQL and erases the traces of removed ones.
import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf } from '../../../errors.ts'
import { StoreUnavailableError, TracesLeftError } from '../../contract.ts'
import type { MigratableStore } from '../../cutover/contract.ts'
import type { SigningKeyVerbs, StoredSigningKey } from '../../signing-key-contract.ts'
import { type Connection, columns, statements } from '../connection.ts'
import { decide, HAS_MOVED } from '../engine/decide.ts'
import type { Pool } from '../engine/pool.ts'
import { rewriteTable } from '../rewrite-table.ts'

const SQL = statements({
  signingKeys: `select kid, private_jwk as "privateJwk", created_at as "createdAt", ${HAS_MOVED}
    from workspace_gateway.signing_key order by created_at desc, kid`,
  // Serializes the callers: two that see the same newest key would both add one.
  lockSigningKeys: 'lock table workspace_gateway.signing_key in share row exclusive mode',
  addSigningKey: `insert into workspace_gateway.signing_key (kid, private_jwk, created_at)
    select $1, $2, $3::bigint
    where (select kid from workspace_gateway.signing_key order by created_at desc, kid limit 1) is not distinct from $4
    returning kid`,
  removeSigningKey:
    'delete from workspace_gateway.signing_key where kid = $1 returning pg_current_xact_id()::xid::text as xid',
  rewriteSigningKeys: `update workspace_gateway.signing_key k set private_jwk = asked.private_jwk
    from unnest($1::text[], $2::text[]) as asked (kid, private_jwk) where k.kid = asked.kid
    returning pg_current_xact_id()::xid::text as xid`,
  // The id of a new transaction, so later than every transaction that has ended.
  currentTransaction: 'select pg_current_xact_id()::xid::text as xid',
  /**
   * Finds transactions that may still see rows from before the given transaction: then the rewrite keeps these rows in
   * the new file too. They are readers, writers that have not ended, a standby by its slot, and prepared transactions,
   * which have no process. Writers in other databases count as well: everything that reads here meanwhile, the rewrite
   * included, may see the state from before them. The server shows these transaction ids to every role, whatever else it
   * hides.
   */
  olderReaders: `select 1 from (
      select backend_xid as xid from pg_stat_activity where pid <> pg_backend_pid()
      union all select backend_xmin from pg_stat_activity
        where coalesce(datname, current_database()) = current_database() and pid <> pg_backend_pid()
      union all select xmin from pg_replication_slots
      union all select transaction from pg_prepared_xacts
    ) as kept where age(kept.xid) >= age($1::xid) limit 1`,
  // All later statements queue behind a rewrite that waits for the table. So it does not begin while anybody has locked the
  // table, even an idle transaction that only reads. A prepared transaction has no process.
  keyLockHolders: `select 1 from pg_locks where relation = 'workspace_gateway.signing_key'::regclass
      and database = (select oid from pg_database where datname = current_database())
      and pid is distinct from pg_backend_pid() limit 1`,
})
const RETRY_MS = 20

interface Changed {
  /** The id of the changing transaction. */
  readonly xid: string
}

export function createSigningKeys(pool: Pool): SigningKeyVerbs & Pick<MigratableStore, 'eraseKeyTraces'> {
  return {
    signingKeys: () =>
      pool.repeatable(async (connection) => {
        const rows = await decide<StoredSigningKey>(connection, SQL.signingKeys, [], 1)
        return rows.map(({ kid, privateJwk, createdAt }) => ({ kid, privateJwk, createdAt }))
      }),
    addSigningKey: (key, newestKid) =>
      pool.transaction(async (connection) => {
        await connection.query(SQL.lockSigningKeys)
        const values = [key.kid, key.privateJwk, key.createdAt, newestKid]
        return (await connection.query(SQL.addSigningKey, values)).length > 0
      }),
    removeSigningKey: (kid) =>
      pool.write(async (connection) => {
        const [removed] = await connection.query<Changed & object>(SQL.removeSigningKey, [kid])
        if (removed) await erase(connection, removed, pool.patienceMs)
        return removed !== undefined
      }),
    rewriteSigningKeys: (keys) =>
      pool.repeatableWrite(async (connection) => {
        const [rewritten] = await connection.query<Changed & object>(
          SQL.rewriteSigningKeys,
          columns(keys, ['kid', 'privateJwk']),
        )
        if (rewritten) await erase(connection, rewritten, pool.patienceMs)
      }),
    async eraseKeyTraces() {
      await pool.write(async (connection) => {
        const [now] = await connection.query<Changed & object>(SQL.currentTransaction)
        if (now) await erase(connection, now, pool.patienceMs)
      })
    },
  }
}

/** Waits until nothing prevents it, at most `patienceMs` milliseconds, then rewrites the table. */
async function erase(connection: Connection, change: Changed, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  try {
    for (let found = await obstacle(connection, change); found; found = await obstacle(connection, change)) {
      if (performance.now() > giveUpAt) throw new StoreUnavailableError(found)
      await delay(RETRY_MS)
    }
    // The write-ahead log of the server keeps the old rows until it is recycled.
    await rewriteTable(connection, 'workspace_gateway.signing_key')
  } catch (cause) {
    throw new TracesLeftError(reasonOf(cause), { cause })
  }
}

/** Why a rewrite would not remove the old rows, or would make others wait. Null when neither is so. */
async function obstacle(connection: Connection, { xid }: Changed): Promise<string | null> {
  if ((await connection.query(SQL.olderReaders, [xid])).length > 0) {
    return 'another process still reads an older state of the database'
  }
  const holders = await connection.query(SQL.keyLockHolders)
  return holders.length > 0 ? 'another transaction keeps the table of the signing keys locked' : null
}
