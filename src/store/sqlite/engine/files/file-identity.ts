// Tells a file from another one that has taken its name.
import { type BigIntStats, statSync } from 'node:fs'
import { StoreFaultError } from '../../../contract.ts'

/** Device and inode. */
export type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>

/** Undefined for a file that does not exist. */
export function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

/** Throws `StoreFaultError` if `path` is missing, or another file than `expected`. */
export function requireSameFile(path: string, expected?: FileIdentity): BigIntStats {
  const found = statOf(path)
  if (!found) throw new StoreFaultError(`${path} was deleted while it was in use`)
  if (expected && (found.ino !== expected.ino || found.dev !== expected.dev)) {
    throw new StoreFaultError(`${path} was replaced by another file while it was in use`)
  }
  return found
}
