// Refuses a path that leads to something other than a file: reading a pipe could wait for ever, and SQLite would only
// say that the disk failed.
import type { Stats } from 'node:fs'
import { StoreOpenError } from '../../../contract.ts'

/** Throws `StoreOpenError` for a folder, a pipe, a device or a socket. */
export function requireFile(found: Stats, path: string): void {
  if (found.isFile()) return
  throw new StoreOpenError(`cannot open ${path}: ${found.isDirectory() ? 'it is a folder' : 'it is not a file'}`)
}
