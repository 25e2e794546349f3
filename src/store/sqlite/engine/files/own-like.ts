// Whose the files are that root makes for a service.
import { lchownSync, statSync } from 'node:fs'

/** Gives `path` the owner of `like`, where this process may: a service that is no root could not open it. */
export function ownLike(path: string, like: string): void {
  if (process.getuid?.() !== 0) return
  try {
    const { uid, gid } = statSync(like)
    // Not of what a link leads to: whoever may write to the folder could put one there, and be given any file.
    lchownSync(path, uid, gid)
  } catch {
    // On a file system without owners, or as a root without that right. Whoever cannot open the file is told so.
  }
}
