// What an operator can see of a database without changing it.
import { databasePath } from '../open-store.ts'
import type { PoolOptions } from '../postgres/engine/pool.ts'
import type { PostgresInspection } from './inspect-postgres.ts'
import type { SqliteInspection } from './inspect-sqlite.ts'

export type Inspection = SqliteInspection | PostgresInspection

/** Throws `UsageError`, `StoreOpenError`, `StoreUnavailableError`, or what the engine throws. Writes nothing and migrates nothing. */
export async function inspectDatabase(
  databaseUrl: string,
  options: PoolOptions,
  clock: () => number,
): Promise<Inspection> {
  const path = databasePath(databaseUrl)
  if (path !== null) return (await import('./inspect-sqlite.ts')).inspectSqlite(path)
  return (await import('./inspect-postgres.ts')).inspectPostgres(databaseUrl, options, clock)
}

/** The other processes that have a database open, in words; none where that cannot be seen. Throws as `inspectDatabase`, and writes nothing. */
export async function usersOfDatabase(databaseUrl: string, options: PoolOptions): Promise<readonly string[]> {
  const path = databasePath(databaseUrl)
  if (path !== null) return (await import('./inspect-sqlite.ts')).processesUsing(path)
  return (await import('./inspect-postgres.ts')).clientsUsing(databaseUrl, options)
}
