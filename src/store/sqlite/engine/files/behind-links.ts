// The file that a name stands for: SQLite follows links, and puts its own files beside what they lead to.
import { readlink, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Also where a link leads to a file that is not there yet. Throws what the file system throws, as for links in a circle. */
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
