// How many files this process may have open, and how many of them may be connections of clients.
import { readFileSync } from 'node:fs'
import type { ServeConfig } from '../options/serve-options.ts'

/** For databases, the log, mail, the admin port, imports, and whatever else is opened for a moment. */
const OWN_FILES = 128
/** A database, the one that it moves to, and a replica: each has its own. */
const POOLS = 3

/** Null where there is none, or the system does not tell. */
export function openFilesLimit(): number | null {
  const soft = /^Max open files\s+(\d+)/m.exec(readLimits())?.[1]
  return soft === undefined ? null : Number(soft)
}

/** Of Linux; '' elsewhere, and in a jail without /proc (proc(5)). */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/**
 * Where the last open file is taken, Node closes connections without telling anybody, the admin port's too, and the
 * database opens no file. So the gateway itself closes what comes before that. At least half of the limit is for clients, and for the old server if it answers them.
 */
export function maxConnections({ poolSize, shadowConcurrency, answerFrom }: ServeConfig): number | undefined {
  const limit = openFilesLimit()
  if (limit === null) return undefined
  const left = Math.max(Math.floor(limit / 2), limit - OWN_FILES - POOLS * poolSize - 2 * shadowConcurrency)
  // As many connections may be open to the old server.
  return answerFrom === 'old' ? Math.floor(left / 2) : left
}
