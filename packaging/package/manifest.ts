// The package.json of the package: nothing to install beside it, since what the program imports is in it.
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Of the repository only. */
const LEFT_OUT = ['scripts', 'dependencies', 'devDependencies', 'overrides', 'allowScripts']

/** npm packs the file that is there, so it is exchanged until `restoreManifest`. */
export async function exchangeManifest(root: string): Promise<void> {
  const { file, kept } = places(root)
  await copyFile(file, kept)
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  for (const member of LEFT_OUT) delete manifest[member]
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Also after a packing that broke off. */
export async function restoreManifest(root: string): Promise<void> {
  const { file, kept } = places(root)
  if (existsSync(kept)) await rename(kept, file)
}

function places(root: string) {
  return { file: join(root, 'package.json'), kept: join(root, 'dist/package.json') }
}
