// Replaces package.json for packing: the package has no dependencies, because its bundle contains everything it
// imports.
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Members that only the repository needs. */
const LEFT_OUT = ['scripts', 'dependencies', 'devDependencies', 'overrides', 'allowScripts']

/** npm packs the package.json on disk, so it is replaced until `restoreManifest`. */
export async function exchangeManifest(root: string): Promise<void> {
  const { file, kept } = places(root)
  await copyFile(file, kept)
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  for (const member of LEFT_OUT) delete manifest[member]
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Restores the original package.json, also after an interrupted run. Does nothing when it was not replaced. */
export async function restoreManifest(root: string): Promise<void> {
  const { file, kept } = places(root)
  if (existsSync(kept)) await rename(kept, file)
}

function places(root: string) {
  return { file: join(root, 'package.json'), kept: join(root, 'dist/package.json') }
}
