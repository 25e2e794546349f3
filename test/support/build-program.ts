// Packs the sources for tests that start the program: packed, it starts in half the time.
import { createHash } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BUILT = join(ROOT, 'dist/test-program')
/** The file that names the sources of a build. It is written last, so an interrupted build does not count. */
const STAMP = 'built-of'

/** Builds the packed program if the sources have changed since; returns the path of its main file. */
export async function buildProgram(): Promise<string> {
  const stamp = await stampOfSources()
  if (!(await isBuiltOf(stamp))) {
    // Built next to its final place, because from there it refers to files of the repository.
    const fresh = `${BUILT}.${process.pid}`
    const { bundleProgram } = await import('../../packaging/package/bundle.ts')
    await bundleProgram(ROOT, fresh)
    await writeFile(join(fresh, STAMP), stamp)
    await rm(BUILT, { recursive: true, force: true })
    await rename(fresh, BUILT).catch(async (error: unknown) => {
      await rm(fresh, { recursive: true, force: true })
      // Another run may have built it in the meantime.
      if (!(await isBuiltOf(stamp))) throw error
    })
  }
  return join(BUILT, 'main.js')
}

async function isBuiltOf(stamp: string): Promise<boolean> {
  return (await readFile(join(BUILT, STAMP), 'utf8').catch(() => '')) === stamp
}

async function stampOfSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const path of [
    'package-lock.json',
    'schema.graphql',
    ...(await filesIn('src')),
    ...(await filesIn('packaging/package')),
  ]) {
    hash.update(path).update(await readFile(join(ROOT, path)))
  }
  return hash.digest('hex')
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length))
    .toSorted()
}
