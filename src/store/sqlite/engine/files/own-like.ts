// Sets the owner of files that root creates for a service.
import { lchownSync, statSync } from 'node:fs'

/** If this process runs as root, gives `path` the owner and group of `like`, so that a service user can open it. */
export function ownLike(path: string, like: string): void {
  if (process.getuid?.() !== 0) return
  try {
    const { uid, gid } = statSync(like)
    // Do not follow links: anyone who may write to the folder could place one there and become the owner of any file.
    lchownSync(path, uid, gid)
  } catch {
    // The file system has no owners, or root lacks the capability. Whoever cannot open the file gets an error then.
  }
}
