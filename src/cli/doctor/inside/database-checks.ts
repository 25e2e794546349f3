// Checks the database: whether it can be used, who can read it, and whether writes to it are durable.
import { randomUUID } from 'node:crypto'
import { accessSync, closeSync, constants, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { hasNoRoom, reasonOf } from '../../../errors.ts'
import { memberOf } from '../../../member-of.ts'
import { MAX_SNAPSHOTS } from '../../../resolvers/consistent-answer.ts'
import type { PostgresInspection } from '../../../store/inspection/inspect-postgres.ts'
import type { SqliteInspection } from '../../../store/inspection/inspect-sqlite.ts'
import type { Inspection } from '../../../store/inspection/inspection.ts'
import { MIN_POOL_SIZE } from '../../options/database-options.ts'
import { WARN_BYTES } from '../../serving/watch-log-size.ts'
import { workerCount } from '../../workers/worker-count.ts'
import { type Check, type Fix, type Outcome, runChecks, type Verdict } from '../check.ts'
import { shellWords } from '../shell-words.ts'
import { type Inside, isFound } from './context.ts'

const OTHERS = 0o077
const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000
const MIN_FREE_BYTES = 268_435_456
const SYNCS = 15
/** No disk and no controller syncs faster. A shorter time means that a layer acknowledges writes it has not made. */
const IMPLAUSIBLE_SYNC_MS = 0.03
const CLOCK_MS = 2_000

const DATABASE_CHECKS: readonly Check<Inside>[] = [{ name: 'database', run: usable }]

/** What was found about the database, together with what its checks need beside it. */
type Configured<T extends Inspection> = T & Pick<Inside, 'config' | 'recommend'>

const SQLITE_CHECKS: readonly Check<Configured<SqliteInspection>>[] = [
  { name: 'schema-version', run: schemaVersion },
  { name: 'file-permissions', run: permissions },
  { name: 'disk-sync', run: ifWritten(diskSync) },
  { name: 'file-system', run: fileSystem },
  { name: 'disk-space', run: ifWritten(diskSpace) },
  { name: 'wal-size', run: ifWritten(logSize) },
]

const POSTGRES_CHECKS: readonly Check<Configured<PostgresInspection>>[] = [
  { name: 'schema-version', run: schemaVersion },
  { name: 'server-sync', run: serverSync },
  { name: 'server-clock', run: serverClock },
  { name: 'server-connections', run: serverConnections },
  { name: 'server-tls', run: serverTls },
  { name: 'pooler', run: pooler },
]

/** Checks that the database can be used, then runs the checks of its engine. */
export async function checkDatabase(inside: Inside): Promise<readonly Outcome[]> {
  const { database, config, recommend } = inside
  const first = await runChecks(DATABASE_CHECKS, inside)
  if (!isFound(database)) return first
  const others =
    database.engine === 'sqlite'
      ? await runChecks(SQLITE_CHECKS, { ...database, config, recommend })
      : await runChecks(POSTGRES_CHECKS, { ...database, config, recommend })
  return [...first, ...others]
}

function usable({ database, keys, config }: Inside): Verdict {
  const found = 'error' in database ? database : keys
  if (!('error' in found) || (found === keys && !found.isOfDatabase)) return null
  const isFile = config.database.startsWith('file:')
  const another = isFile
    ? '--database file:/var/lib/workspace/workspace.db'
    : '--database postgres://USER@HOST:5432/NAME'
  return {
    problem: `the database cannot be used: ${found.error}`,
    fix: found.run === undefined ? { gateway: found.gateway ?? another } : { run: found.run },
  }
}

function schemaVersion({ schemaVersion: found, knownVersion, recommend }: Configured<Inspection>): Verdict {
  if (found === knownVersion) return null
  return found > knownVersion
    ? {
        problem: `the database has schema version ${found}, but this program knows only ${knownVersion}: it will not start`,
        fix: { run: 'npm install ./workspace-gateway-VERSION.tgz, of the version that has served it' },
      }
    : {
        problem: `the database has schema version ${found}, but this program has ${knownVersion}: this version has not served it yet`,
        fix: { run: recommend('serve') },
      }
}

function permissions({ files, directory, config }: Configured<SqliteInspection>): Verdict {
  const foreign = config.readOnly ? [] : files.flatMap(({ path }) => (isForeign(path) ? path : []))
  if (foreign.length > 0) {
    return {
      problem: `this user may not write to files of the database, so the gateway does not start as it: ${foreign.join(' ')}`,
      fix: { run: `chown ${process.getuid?.()} ${shellWords(...foreign)} && chmod 600 ${shellWords(...foreign)}` },
    }
  }
  const open = files.filter(({ mode }) => (mode & OTHERS) !== 0)
  if (open.length > 0) {
    const paths = open.map(({ path }) => path)
    return {
      problem: `other users of this machine can read the database, with its signing keys and sessions: ${paths.join(' ')}`,
      fix: { run: `chmod 600 ${shellWords(...paths)}` },
    }
  }
  if ((directory.mode & WRITABLE_BY_OTHERS) === 0 || (directory.mode & STICKY) !== 0) return null
  return {
    problem: `other users of this machine can put another file in place of the database: ${directory.path}`,
    fix: { run: `chmod go-w ${shellWords(directory.path)}` },
  }
}

/** Whether this user lacks rights on the file. A disk that is mounted read-only is found by the check of its sync. */
function isForeign(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return false
  } catch (error) {
    return memberOf(error, 'code') === 'EACCES'
  }
}

/** Wraps a check that matters only to a gateway that writes. */
function ifWritten(run: (found: Configured<SqliteInspection>) => Verdict): typeof run {
  return (found) => (found.config.readOnly ? { reason: 'with --read-only the gateway writes nothing' } : run(found))
}

/** Measures fsync on a temporary file beside the database, so on the same disk. */
function diskSync({ directory }: SqliteInspection): Verdict {
  const path = join(directory.path, `.workspace-gateway-doctor-${randomUUID()}`)
  const page = Buffer.alloc(4_096, 1)
  const times: number[] = []
  try {
    const descriptor = openSync(path, 'wx', 0o600)
    try {
      for (let round = 0; round < SYNCS; round += 1) {
        writeSync(descriptor, page)
        const start = performance.now()
        fsyncSync(descriptor)
        times.push(performance.now() - start)
      }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    return {
      problem: `the folder of the database cannot be written to: ${reasonOf(error)}`,
      fix: fixForWriting(error, directory.path),
    }
  } finally {
    rmSync(path, { force: true })
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(SYNCS / 2)] ?? 0
  if (median >= IMPLAUSIBLE_SYNC_MS) return null
  return {
    problem: `the disk reports a write as durable after ${(median * 1_000).toFixed(0)} µs, which no disk can do: a power cut loses acknowledged writes`,
    fix: { run: 'unset LD_PRELOAD, and put the database on a disk with a write-through cache' },
  }
}

function fixForWriting(error: unknown, folder: string): Fix {
  const code: unknown = memberOf(error, 'code')
  if (code === 'EROFS') return { gateway: '--read-only' }
  if (hasNoRoom(error)) return { run: `df -h ${shellWords(folder)}` }
  // The doctor runs as the user that the gateway runs as.
  return { run: `chown --recursive ${process.getuid?.() ?? 'USER'} ${shellWords(folder)}` }
}

function fileSystem({ networkFileSystem, isInMemory, directory }: SqliteInspection): Verdict {
  if (networkFileSystem !== null) {
    return {
      problem: `the database is on a network file system (${networkFileSystem}), where SQLite can lose acknowledged writes`,
      fix: { gateway: '--database postgres://USER@HOST:5432/NAME' },
    }
  }
  if (!isInMemory) return null
  return {
    problem: `${directory.path} is in memory: all data is lost when the machine restarts`,
    fix: { gateway: '--database file:/var/lib/workspace/workspace.db' },
  }
}

function diskSpace({ freeBytes, directory }: SqliteInspection): Verdict {
  if (freeBytes >= MIN_FREE_BYTES) return null
  return {
    problem: `the disk of the database has ${Math.floor(freeBytes / 1_048_576)} MiB left: writes will be answered 503`,
    fix: { run: `df -h ${shellWords(directory.path)}` },
  }
}

function logSize({ logBytes, config, recommend }: Configured<SqliteInspection>): Verdict {
  if (logBytes < WARN_BYTES) return null
  const size = `the -wal file has ${Math.floor(logBytes / 1_048_576)} MiB`
  return config.checkpoints === 'external'
    ? { problem: `${size}: no program makes checkpoints, so it keeps growing`, fix: { gateway: '--checkpoints own' } }
    : {
        problem: `${size}: a long backup, dump or move, or a large import let it grow, or the gateway was killed`,
        fix: { run: recommend('vacuum') },
      }
}

function serverSync({ fsync, fullPageWrites }: PostgresInspection): Verdict {
  if (fsync && fullPageWrites) return null
  const setting = fsync ? 'full_page_writes' : 'fsync'
  return {
    problem: `the server runs with ${setting} = off: a power cut loses acknowledged writes, or damages the database`,
    fix: { postgresql: `alter system set ${setting} = on; select pg_reload_conf();` },
  }
}

function serverClock({ clockOffsetMs }: PostgresInspection): Verdict {
  if (Math.abs(clockOffsetMs) < CLOCK_MS) return null
  return {
    problem: `the clock of the database server and the clock here differ by ${(Math.abs(clockOffsetMs) / 1_000).toFixed(1)} s`,
    fix: { run: 'timedatectl set-ntp true' },
  }
}

function serverConnections({ maxConnections, isPooled, config }: Configured<PostgresInspection>): Verdict {
  const workers = workerCount(config)
  const wanted = workers * (config.poolSize + MAX_SNAPSHOTS)
  if (isPooled || wanted <= maxConnections) return null
  return {
    problem: `this machine alone may open ${wanted} connections (workers × (pool size + ${MAX_SNAPSHOTS})), but the server allows only ${maxConnections} for all clients`,
    fix: {
      gateway: withinConnections(maxConnections / 2, workers),
      postgresql: `alter system set max_connections = ${wanted + 20}; -- then restart the server`,
    },
  }
}

/** Options with which this machine opens no more than `available` connections. */
function withinConnections(available: number, workers: number): string {
  const poolSize = Math.floor(available / workers) - MAX_SNAPSHOTS
  if (poolSize >= MIN_POOL_SIZE) return `--pool-size ${poolSize}`
  const fewer = Math.floor(available / (MIN_POOL_SIZE + MAX_SNAPSHOTS))
  return `--workers ${Math.max(1, fewer)} --pool-size ${MIN_POOL_SIZE}`
}

function serverTls({ isPrivate }: PostgresInspection): Verdict {
  if (isPrivate) return null
  return {
    problem: 'data goes over the network to the database unencrypted',
    fix: { gateway: '--database postgres://…?sslmode=verify-full' },
  }
}

function pooler({ sharesServers }: PostgresInspection): Verdict {
  if (!sharesServers) return null
  return {
    problem: 'a pooler gives each transaction another server connection, but --database-pooling says that it does not',
    fix: { gateway: '--database-pooling transaction' },
  }
}
