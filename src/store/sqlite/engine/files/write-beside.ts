// Writes a file beside the database, in a folder that other users may be able to write to.
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'

/** Whoever placed a symbolic link there would choose which file of this user is overwritten: it is not followed. */
const NO_LINK = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW

/** Creates or overwrites a file with mode 0600. Throws ELOOP for a symbolic link. */
export function writeBeside(path: string, content: string | Uint8Array): void {
  const file = openSync(path, NO_LINK, 0o600)
  try {
    writeFileSync(file, content)
  } finally {
    closeSync(file)
  }
}
