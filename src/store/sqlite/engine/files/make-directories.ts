// Makes a directory with those above it, one by one: Node's recursive mkdir spins for ever where a parent cannot be made.
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../../../errors.ts'
import { StoreFaultError } from '../../../contract.ts'
import { ownLike } from './own-like.ts'

/** Readable by their owner only. `path` is absolute. Throws `StoreFaultError`. */
export function makeDirectories(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectories(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
    ownLike(path, parent)
  } catch (error) {
    // Another process was first.
    if (isFolder(path)) return
    throw new StoreFaultError(`the folder ${path} cannot be made: ${reasonOf(error)}`)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
