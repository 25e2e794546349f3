// Resolves symbolic links as SQLite does, which puts its own files beside the target of a link.
import { readlink, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Returns the target of `path`, also if that does not exist yet; `path` itself if it is no link. Rejects with an error
 * of the file system, for example for a cycle of links.
 */
export async function behindLinks(path: string): Promise<string> {
  const next = await readlink(path).catch(() => null)
  if (next === null) return path
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return behindLinks(resolve(await realpath(dirname(path)), next))
  }
}
