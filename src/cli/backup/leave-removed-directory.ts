// Where to stand when the working directory was removed: a thread does not start there.
import { realpathSync } from 'node:fs'
import { parse } from 'node:path'

/** To be called once no relative path is left to be opened: from then on it would mean another file. */
export function leaveRemovedDirectory(): void {
  try {
    // Not `process.cwd`, which answers what it found first.
    realpathSync.native('.')
  } catch {
    process.chdir(parse(process.execPath).root)
  }
}
