// Whether the folder of `--backups` holds a backup (any whole file, whatever its name), and how old the newest is.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { reasonOf } from '../../../errors.ts'
import type { Verdict } from '../check.ts'
import type { Inside } from './context.ts'

const HOUR_MS = 3_600_000
const NOT_A_BACKUP = /\.(part(-wal|-shm|-journal)?|sha256)$/

export function backups({ config, clock }: Inside): Verdict {
  const folder = config.backups
  if (folder === undefined) return { reason: 'name the folder of the backups with --backups' }
  const fix = { run: `workspace-gateway backup --keep-newest 14 ${folder}` }
  let newest: number
  try {
    newest = newestBackup(folder)
  } catch (error) {
    return { problem: `the folder of the backups cannot be read: ${reasonOf(error)}`, fix: { run: `ls -ld ${folder}` } }
  }
  const ageMs = clock() - newest
  if (ageMs <= config.backupMaxAge) return null
  const age =
    newest === Number.NEGATIVE_INFINITY ? 'there is none' : `the newest is ${Math.floor(ageMs / HOUR_MS)} hours old`
  return { problem: `no backup is recent enough in ${folder}: ${age}`, fix }
}

/** When the newest one was made. A backup that was broken off leaves a part, or an empty file. */
function newestBackup(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !NOT_A_BACKUP.test(entry.name),
  )
  const found = files.map(({ name }) => statSync(join(folder, name))).filter(({ size }) => size > 0)
  return Math.max(...found.map(({ mtimeMs }) => mtimeMs))
}
