// Compiles the libraries that are preloaded into a gateway to make its disk fail.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `source` is the name of a file in this folder. Throws the message of the compiler. */
export function compileLibrary(source: string, directory: string): string {
  const library = join(directory, 'faults.so')
  const path = fileURLToPath(new URL(source, import.meta.url))
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, path, '-ldl'], { stdio: 'pipe' })
  return library
}
