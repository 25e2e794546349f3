// Bundles the program as JavaScript in dist/program: the sources, their imports, and the files that they read at run
// time.
import { cp, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'

/** The oldest supported Node, as in `engines`. */
const TARGET = 'node22.15'
/** Globals of Node 24 that older versions lack. */
const NEW_GLOBALS = ['DisposableStack', 'AsyncDisposableStack']
/** The SQLite driver. Its C sources (10 MB) are left out: only compilers need them. */
const DRIVER = 'better-sqlite3'
const DRIVER_PARTS = ['package.json', 'LICENSE', 'lib', 'prebuilds']
const RELATIVE_URL = /new URL\(\s*'(\.{1,2}\/[^']*)',\s*import\.meta\.url,?\s*\)/g

/** `root` and `output` are absolute. */
export async function bundleProgram(root: string, output: string): Promise<void> {
  const commandLine = join(root, 'src/cli/command-line.ts')
  const start = importedBy(commandLine)
  await using bundle = await rolldown({
    input: { main: join(root, 'src/main.ts'), 'command-line': commandLine },
    cwd: root,
    platform: 'node',
    // pg tries to load it and works without it.
    external: ['pg-native'],
    plugins: [start.plugin, driverBeside(), relativeUrls(root, output)],
    transform: {
      target: TARGET,
      inject: Object.fromEntries(NEW_GLOBALS.map((name) => [name, ['@whatwg-node/disposablestack', name]])),
    },
  })
  await bundle.write({
    dir: output,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    comments: { legal: true, annotation: false, jsdoc: false },
    cleanDir: true,
    // What every command loads is in one file. Each further file takes processor time at each start.
    codeSplitting: { groups: [{ name: 'start', test: start.has }] },
  })
  const driver = dirname(fileURLToPath(import.meta.resolve(`${DRIVER}/package.json`)))
  for (const part of DRIVER_PARTS) {
    await cp(join(driver, part), join(output, DRIVER, part), { recursive: true, dereference: true })
  }
}

/** Collects all modules that the static imports of a module load, without that module itself. */
function importedBy(entry: string): { readonly plugin: Plugin; readonly has: (id: string) => boolean } {
  const imported = new Set<string>()
  const plugin: Plugin = {
    name: 'imported-by',
    buildEnd() {
      const add = (id: string): void => {
        for (const one of this.getModuleInfo(id)?.importedIds ?? []) {
          if (imported.has(one)) continue
          imported.add(one)
          add(one)
        }
      }
      add(entry)
    },
  }
  return { plugin, has: (id) => imported.has(id) }
}

/** Keeps the native module out of the bundle: its files lie beside the program. */
function driverBeside(): Plugin {
  return {
    name: 'driver-beside',
    resolveId: (source) => (source === DRIVER ? { id: `./${DRIVER}/lib/index.js`, external: true } : null),
  }
}

/**
 * Rewrites `new URL('…', import.meta.url)`, which is relative to the source file, so that it means the same file in the
 * package. A worker becomes a chunk of its own, other files of `src` are copied, and all other paths point to the same
 * place as in the repository.
 */
function relativeUrls(root: string, output: string): Plugin {
  const sources = join(root, 'src') + sep
  return {
    name: 'relative-urls',
    async transform(code, id) {
      if (!id.startsWith(sources) || !code.includes('import.meta')) return null
      const targets: string[] = []
      const rewritten = code.replaceAll(RELATIVE_URL, (_, path: string) => {
        const target = resolve(dirname(id), path) + (path.endsWith('/') ? sep : '')
        if (target.startsWith(sources)) targets.push(target)
        return `new URL('${target.startsWith(sources) ? `./${builtName(target)}` : relative(output, target)}${path.endsWith('/') ? '/' : ''}', import${'.meta.url'})`
      })
      if (/import\.meta(?!\.url\))/.test(rewritten)) {
        this.error(`${id}: use new URL('…', import${'.meta.url'}) with a path in quotes, which the package can follow`)
      }
      for (const target of targets) {
        if (target.endsWith('.ts')) this.emitFile({ type: 'chunk', id: target, fileName: builtName(target) })
        else this.emitFile({ type: 'asset', fileName: builtName(target), source: await readFile(target) })
      }
      return rewritten
    },
  }
}

function builtName(path: string): string {
  return basename(path).replace(/\.ts$/, '.js')
}
