// Checks a database before it is used: its file system and its integrity.
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { reasonOf } from '../../../../errors.ts'
import { StoreDamagedError, StoreFaultError } from '../../../contract.ts'
import { faultOf } from './sqlite-errors.ts'

/** `quick` reads every page. `full` also compares every index with its table. `off` checks nothing. */
export type IntegrityCheck = 'quick' | 'full' | 'off'

const CHECKS: Readonly<Record<Exclude<IntegrityCheck, 'off'>, string>> = {
  quick: 'quick_check(1)',
  full: 'integrity_check(1)',
}

/**
 * Network file systems by the `f_type` of statfs(2). On these, locks and the shared memory of the write-ahead log do
 * not work across machines.
 */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'CephFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
])

export function networkFileSystem(type: number): string | null {
  // Where `f_type` is 32 bits wide, some values are negative.
  return NETWORK_FILE_SYSTEMS.get(type >>> 0) ?? null
}

/** Throws `StoreFaultError` on a network file system. The folder of `path` need not exist yet. */
export function assertLocalFileSystem(path: string): void {
  const name = networkFileSystem(statfsSync(nearestFolder(dirname(path))).type)
  if (name === null) return
  throw new StoreFaultError(
    `${path} is on a network file system (${name}), where SQLite can lose acknowledged writes: put it on a local disk, or use PostgreSQL`,
  )
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

/** Throws `StoreDamagedError` if the integrity check finds damage. */
export function assertWhole(database: Database, path: string, check: IntegrityCheck): void {
  if (check === 'off') return
  const found = String(database.pragma(CHECKS[check], { simple: true }))
  if (found !== 'ok') throw damaged(path, found)
}

function damaged(path: string, finding: string, cause?: unknown): StoreDamagedError {
  return new StoreDamagedError(
    `the database ${path} is damaged (${firstFinding(finding)}). Restore a backup, or save what can be read with: ` +
      `sqlite3 ${path} .recover | sqlite3 recovered.db`,
    { cause },
  )
}

/**
 * Returns a `StoreFaultError` that tells the operator what to fix if the file is damaged or the disk failed, else the
 * error unchanged.
 */
export function toFaultError(error: unknown, path: string): unknown {
  const fault = faultOf(error)
  if (fault === 'corrupt') return damaged(path, reasonOf(error), error)
  if (fault === 'io') return new StoreFaultError(`cannot use ${path}: ${reasonOf(error)}`, { cause: error })
  return error
}

/** The first finding of an integrity check, without the `***` line above it, in which SQLite names the database. */
export function firstFinding(findings: string): string {
  return findings.split('\n').find((line) => !line.startsWith('***')) ?? findings
}
