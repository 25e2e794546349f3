// Opens the PostgreSQL store: assembles all verbs on a bounded connection pool to the primary.
import { addAbortListener } from 'node:events'
import type { Snapshot, SnapshotOptions } from '../contract.ts'
import type { MigratableStore } from '../cutover/contract.ts'
import { createAuditLog } from './access/audit.ts'
import { createRestCalls } from './access/rest-calls.ts'
import { createSessions } from './access/sessions.ts'
import { createSigningKeys } from './access/signing-keys.ts'
import type { Connection, Statement } from './connection.ts'
import { createCarriedReads } from './copies/carried-rows.ts'
import { createCopies } from './copies/row-copies.ts'
import { createMoves } from './cutover.ts'
import { toOpenError } from './engine/connecting/open-errors.ts'
import { readPostgresUrl, readReplicaUrl } from './engine/connection-string.ts'
import { assertActive, sessionLost } from './engine/faults/pg-errors.ts'
import { createWritableCheck } from './engine/faults/writable-check.ts'
import { createPool, type Pool, type PoolOptions } from './engine/pool.ts'
import { openReplica, type ReplicaOptions } from './engine/replica.ts'
import { isServerShared } from './engine/shared-server.ts'
import { createChanges } from './import.ts'
import { migrate } from './migrations.ts'
import { answering, coalesced, createReads } from './reads.ts'
import { createRemovals } from './removals.ts'
import { createReplacements } from './replacements.ts'
import { createClients } from './sign-in/clients.ts'
import { createCodes } from './sign-in/codes.ts'
import { createOutbox } from './sign-in/outbox.ts'
import { createSpace } from './space.ts'
import { createStatistics } from './statistics.ts'

export interface PostgresStoreOptions extends PoolOptions {
  /** Refuse to create the schema when it is missing. */
  readonly mustExist?: boolean
  /** Ends the preparation of the database, which may wait without end for other processes or a standby. */
  readonly stop?: AbortSignal | undefined
  /** Answers reads of a request when it is in the state in which the request's session was looked up. */
  readonly replica?: ReplicaOptions | undefined
}

const PING: Statement = {
  name: 'ping',
  text: `select phase = 'moved' as "isRetired" from workspace_gateway.move`,
}

const EARLIER_TIME: Statement = {
  name: 'earlierTime',
  text: 'select least($1::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as time',
}

/** Connects and migrates the database to the current schema. */
export async function openPostgresStore(databaseUrl: string, options: PostgresStoreOptions): Promise<MigratableStore> {
  const pool = createPool(readPostgresUrl(databaseUrl), options)
  const assertWritable = createWritableCheck(pool)
  const replicaTarget = options.replica && readReplicaUrl(options.replica.url)
  await prepare(pool, options)
  const replica = options.replica && replicaTarget && openReplica(replicaTarget, options.replica, options)
  const primary = coalesced(answering(pool.repeatable), pool)
  return {
    ...createReads(pool.repeatable, replica ? replica.preferredTo(primary) : primary),
    ...createSessions(pool),
    ...createSigningKeys(pool),
    ...createAuditLog(pool),
    ...createRestCalls(pool),
    ...createCodes(pool),
    ...createOutbox(pool),
    ...createClients(pool),
    ...createChanges(pool),
    ...createRemovals(pool),
    ...createReplacements(pool),
    ...createSpace(pool),
    ...createStatistics(pool, replica),
    ...createMoves(pool),
    ...createCarriedReads(pool),
    ...createCopies(pool),
    openSnapshot: (options) => openSnapshot(pool, options),
    earlierTime: (now) =>
      pool.repeatable(async (connection) => {
        const [row] = await connection.query<{ time: number }>(EARLIER_TIME, [now])
        return row?.time ?? now
      }),
    async ping() {
      await pool.repeatable(async (connection) => {
        assertActive((await connection.query(PING))[0]?.isRetired)
      })
      await assertWritable()
    },
    async [Symbol.asyncDispose]() {
      await replica?.[Symbol.asyncDispose]()
      await pool[Symbol.asyncDispose]()
    },
  }
}

/** Throws `StoreSessionLostError` when `pooling` promises sessions but a pooler shares server connections. */
async function prepare(
  pool: Pool,
  { mustExist = false, pooling, statementTimeoutMs, stop }: PostgresStoreOptions,
): Promise<void> {
  let connection: Connection | null = null
  try {
    // No statement timeout: a migration may take long, and so may the wait for another process that migrates.
    connection = await pool.dedicated()
    using _stopping = stop ? addAbortListener(stop, connection.close) : null
    if (pooling === 'session' && (await isServerShared(connection, pool))) throw sessionLost()
    await migrate(connection, { mustExist, patienceMs: statementTimeoutMs })
  } catch (error) {
    await pool[Symbol.asyncDispose]()
    throw toOpenError(error)
  } finally {
    connection?.close()
  }
}

async function openSnapshot(pool: Pool, { isTimed = false }: SnapshotOptions = {}): Promise<Snapshot> {
  const connection = await pool.dedicated(isTimed)
  try {
    await connection.begin('isolation level repeatable read read only')
    // The first statement takes the snapshot.
    await connection.query(PING)
  } catch (error) {
    connection.close()
    throw error
  }
  // The connection runs one read at a time, so concurrent reads are chained.
  let last: Promise<unknown> = Promise.resolve()
  return {
    ...createReads((read) => {
      const answer = last.then(() => read(connection))
      last = answer.catch(() => {})
      return answer
    }),
    async [Symbol.asyncDispose]() {
      connection.close()
    },
  }
}
