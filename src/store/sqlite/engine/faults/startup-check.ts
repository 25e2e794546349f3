// What is looked at before a database is used: where it lies, and whether it is whole.
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { reasonOf } from '../../../../errors.ts'
import { StoreFaultError } from '../../../contract.ts'
import { faultOf } from './sqlite-errors.ts'

/** `quick` reads every page, `full` compares every index with its table too, `off` reads what requests ask for. */
export type IntegrityCheck = 'quick' | 'full' | 'off'

const CHECKS: Readonly<Record<Exclude<IntegrityCheck, 'off'>, string>> = {
  quick: 'quick_check(1)',
  full: 'integrity_check(1)',
}

/** By `f_type` of statfs(2): on these, locks and the shared memory of the write-ahead log do not hold between machines. */
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
  // Some are signed where they are 32 bits wide.
  return NETWORK_FILE_SYSTEMS.get(type >>> 0) ?? null
}

/** Throws `StoreFaultError` on a file system that other machines share. */
export function assertLocalFileSystem(path: string): void {
  const name = networkFileSystem(statfsSync(dirname(path)).type)
  if (name === null) return
  throw new StoreFaultError(
    `${path} is on a network file system (${name}), where SQLite loses what it wrote: put it on a local disk, or use PostgreSQL`,
  )
}

/** Throws `StoreFaultError` when the database is not whole. */
export function assertWhole(database: Database, path: string, check: IntegrityCheck): void {
  if (check === 'off') return
  const found = String(database.pragma(CHECKS[check], { simple: true }))
  if (found !== 'ok') throw damaged(path, found)
}

function damaged(path: string, finding: string, cause?: unknown): StoreFaultError {
  return new StoreFaultError(
    `the database ${path} is damaged (${firstFinding(finding)}). Restore a backup, or save what can be read with: ` +
      `sqlite3 ${path} .recover | sqlite3 recovered.db`,
    { cause },
  )
}

/** What an operator has to put right, in a sentence, where SQLite threw of a file that is damaged or a disk that failed; else the error as it is. */
export function toFaultError(error: unknown, path: string): unknown {
  const fault = faultOf(error)
  if (fault === 'corrupt') return damaged(path, reasonOf(error), error)
  if (fault === 'io') return new StoreFaultError(`cannot use ${path}: ${reasonOf(error)}`, { cause: error })
  return error
}

/** What SQLite finds in one of several databases comes below a line with the name of that one. */
export function firstFinding(findings: string): string {
  return findings.split('\n').find((line) => !line.startsWith('***')) ?? findings
}
