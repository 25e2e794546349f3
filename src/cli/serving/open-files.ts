// Reads the limit of open files of this process, and derives from it the maximum number of client connections.
import { readFileSync } from 'node:fs'
import type { ServeConfig } from '../options/serve-options.ts'

/** Files reserved for databases, the log, mail, the admin port, imports and short-lived use. */
const OWN_FILES = 128
/** The database, the next database and the replica have a connection pool each. */
const POOLS = 3

/** The soft limit. Null when there is none, or the system does not tell. */
export function openFilesLimit(): number | null {
  const soft = /^Max open files\s+(\d+)/m.exec(readLimits())?.[1]
  return soft === undefined ? null : Number(soft)
}

/** Linux only (proc(5)): returns '' elsewhere, and in a jail without /proc. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/**
 * Maximum number of client connections; undefined when the limit is not known. When the open files run out, Node
 * silently closes new connections, those of the admin port too, and the database cannot open files. So the gateway
 * refuses connections before that. At least half of the limit is for clients, and for the old server if that one
 * answers them.
 */
export function maxConnections({ poolSize, shadowConcurrency, answerFrom }: ServeConfig): number | undefined {
  const limit = openFilesLimit()
  if (limit === null) return undefined
  const left = Math.max(Math.floor(limit / 2), limit - OWN_FILES - POOLS * poolSize - 2 * shadowConcurrency)
  // Each client connection may need one to the old server.
  return answerFrom === 'old' ? Math.floor(left / 2) : left
}
