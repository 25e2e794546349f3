// Checks whether the folder of `--backups` holds a recent backup. Any complete file counts, whatever its name.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { causeCodeOf, reasonOf } from '../../../errors.ts'
import type { Verdict } from '../check.ts'
import { shellWords } from '../shell-words.ts'
import type { Inside } from './context.ts'

const HOUR_MS = 3_600_000
/**
 * Tolerance for the clock of a file server. A file dated later than that was written while a clock was ahead, so its
 * real age is unknown.
 */
const CLOCKS_DIFFER_MS = HOUR_MS
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is not a folder',
  EACCES: 'permission denied',
}
const NOT_A_BACKUP = /\.(part(-wal|-shm|-journal)?|sha256)$/

export function backups({ config, clock, recommend }: Inside): Verdict {
  const folder = config.backups
  if (folder === undefined) return { reason: 'name the folder of the backups with --backups' }
  const fix = { run: recommend('backup', '--keep-newest 14', shellWords(folder)) }
  const now = clock()
  let times: readonly number[]
  try {
    times = timesOfBackups(folder)
  } catch (error) {
    return {
      problem: `the folder of the backups cannot be read: ${UNREADABLE[causeCodeOf(error) ?? ''] ?? reasonOf(error)}`,
      fix: { run: `ls -ld ${shellWords(folder)}` },
    }
  }
  const past = times.filter((time) => time <= now + CLOCKS_DIFFER_MS)
  const ageMs = now - Math.max(...past)
  if (ageMs <= config.backupMaxAge) return null
  const ahead = times.length - past.length
  const age =
    (past.length === 0 ? 'there is none' : `the newest is ${Math.floor(ageMs / HOUR_MS)} hours old`) +
    (ahead === 0 ? '' : `, but ${ahead} dated ahead of the clock`)
  return { problem: `no backup is recent enough in ${folder}: ${age}`, fix }
}

/**
 * Modification times of the backups, in milliseconds since the epoch. Partial and empty files are ignored: an
 * interrupted backup leaves them.
 */
function timesOfBackups(folder: string): readonly number[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !NOT_A_BACKUP.test(entry.name),
  )
  const found = files.map(({ name }) => statSync(join(folder, name))).filter(({ size }) => size > 0)
  return found.map(({ mtimeMs }) => mtimeMs)
}
