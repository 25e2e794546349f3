// Lists the files that this process has open.
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux lists them. */
export const DESCRIPTORS = '/proc/self/fd'

export function openFiles(): readonly string[] {
  return readdirSync(DESCRIPTORS).flatMap((name) => {
    try {
      return readlinkSync(join(DESCRIPTORS, name))
    } catch {
      // The descriptor with which the listing itself was read.
      return []
    }
  })
}
