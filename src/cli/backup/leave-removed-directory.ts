// Changes to the root directory when the working directory was removed, because a worker thread cannot start there.
import { realpathSync } from 'node:fs'
import { parse } from 'node:path'

/** Call this only after every relative path was opened: afterwards a relative path would mean another file. */
export function leaveRemovedDirectory(): void {
  try {
    // `process.cwd` caches its first result and would not notice the removal.
    realpathSync.native('.')
  } catch {
    process.chdir(parse(process.execPath).root)
  }
}
