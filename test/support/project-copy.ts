// Copies the project, so that a test may break the sources on purpose.
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LINKED = ['node_modules', 'dist']

export interface ProjectCopy extends Disposable {
  readonly directory: string
}

/** `names` are files and folders of the project's root. The copy shares what is installed and built. */
export function copyProject(names: readonly string[]): ProjectCopy {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-copy-'))
  for (const name of names) cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(directory, name))
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) }
}
