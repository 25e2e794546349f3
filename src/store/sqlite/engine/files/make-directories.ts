// Creates a directory and its parents one by one: Node's recursive mkdir loops for ever if a parent cannot be created.
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../../../errors.ts'
import { StoreFaultError } from '../../../contract.ts'
import { ownLike } from './own-like.ts'

/** The new directories have mode 0700. `path` is absolute. Throws `StoreFaultError`. */
export function makeDirectories(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectories(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
    ownLike(path, parent)
  } catch (error) {
    // Another process may have created it first.
    if (isFolder(path)) return
    throw new StoreFaultError(`the folder ${path} cannot be created: ${reasonOf(error)}`)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
