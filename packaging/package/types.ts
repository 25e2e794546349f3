// Writes the type declarations of the package: those of its exports, and those of the GraphQL API.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'

const runFile = promisify(execFile)
const ENTRY = 'cli/command-line.d.ts'

/** `root` and `output` are absolute. Declarations that the entry does not reach are left out. */
export async function writeTypes(root: string, output: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-gateway-types-'))
  try {
    const project = join(root, 'packaging/package/tsconfig.json')
    // Each further checker would check again what all files share.
    await runNodeScript(root, 'tsc', ['--project', project, '--outDir', folder, '--checkers', '1'])
    await rm(output, { recursive: true, force: true })
    for (const file of await reachedFrom(join(folder, ENTRY))) {
      await cp(file, join(output, relative(folder, file)))
      await writeFile(join(output, relative(folder, file)), withoutSourceNames(await readFile(file, 'utf8')))
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  await runNodeScript(root, 'graphql-codegen', ['--silent', '--config', join(root, 'packaging/package/codegen.yml')])
}

async function runNodeScript(root: string, name: string, args: readonly string[]): Promise<void> {
  await runFile(process.execPath, [join(root, 'node_modules/.bin', name), ...args], { cwd: root }).catch((error) => {
    throw new Error(`${name} failed:\n${error.stdout}${error.stderr}`)
  })
}

async function reachedFrom(entry: string, reached = new Set([entry])): Promise<ReadonlySet<string>> {
  for (const [, path = ''] of (await readFile(entry, 'utf8')).matchAll(/from '(\.[^']+)\.ts'/g)) {
    const file = `${resolve(dirname(entry), path)}.d.ts`
    if (reached.has(file)) continue
    reached.add(file)
    await reachedFrom(file, reached)
  }
  return reached
}

/** Changes the imports of a declaration from .ts, as in the sources, to .js, as in the package. */
function withoutSourceNames(declaration: string): string {
  return declaration.replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'")
}
