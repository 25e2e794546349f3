// `npm run build`: bundles the browser code into dist/explorer and stores each file only compressed, at the highest
// level. With --if-stale it builds only if a source is newer than the last build.
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build } from 'vite'
import { SCREEN_IN_SHELL, WITHOUT_FONTS } from './build-plugins.ts'
import { collectPackages } from './bundled-packages.ts'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const OUTPUT = fileURLToPath(new URL('../../dist/explorer', import.meta.url))
const LOCK_FILE = fileURLToPath(new URL('../../package-lock.json', import.meta.url))
/**
 * Marker file of a complete build, with a line for each package that is in it. It is written last, so an interrupted
 * build does not have it.
 */
const DONE = 'built'
/** The modules that sign in and send the first page's requests before the screen is loaded. */
const START =
  /\/(?:start-up|browser-storage|connection|session|session-ends|login|kept-session|tab-channel|tokens|first-run|requests|rosetta-state|answer|reading|beside|call|json-lines|json-text)\.ts$/

if (process.argv.includes('--if-stale') && (await isBuilt())) process.exit()

const packages = collectPackages()
await build({
  root: ROOT,
  configFile: false,
  base: './',
  logLevel: 'error',
  plugins: [react(), WITHOUT_FONTS, SCREEN_IN_SHELL, packages.plugin],
  worker: { format: 'es', plugins: () => [packages.plugin] },
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 10_000,
    // Code that every page uses goes into one file, instead of one file per icon.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'start', test: isStart, priority: 1 },
            { name: 'shared', test: isShared },
            { name: 'editor', test: isEditor },
          ],
        },
      },
    },
  },
})

const assets = `${OUTPUT}/assets`
const files = (await readdir(assets)).filter((name) => /\.(?:js|css|svg|ttf|woff2|json)$/.test(name))
await Promise.all(
  files.map(async (name) => {
    const bytes = await readFile(`${assets}/${name}`)
    const parameters = { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength }
    await writeFile(`${assets}/${name}.br`, await promisify(brotliCompress)(bytes, { params: parameters }))
    await writeFile(`${assets}/${name}.gz`, await promisify(gzip)(bytes, { level: 9 }))
    await rm(`${assets}/${name}`)
  }),
)

await writeFile(`${OUTPUT}/${DONE}`, (await packages.list()).join('\n'))

function isStart(id: string): boolean {
  return START.test(id) || /preload-helper|rolldown\/runtime/.test(id)
}

/** The icons, and the folders that the first page needs anyway. */
function isShared(id: string): boolean {
  const inRooms = /src\/explorer\/(?:answer|design|frame|rosetta|snippets|text|sign-in)\//.test(id)
  const isLazy = /\/(?:combo-box|palette|highlight|text-worker|sessions-page|end-all-dialog)\.tsx?$/.test(id)
  return id.includes('/lucide-react/') || (inRooms && !isLazy)
}

/** GraphiQL's editor imports its modules one by one, but always all of them. */
function isEditor(id: string): boolean {
  return /node_modules\/(?:codemirror|codemirror-graphql|graphql-language-service)\//.test(id)
}

async function isBuilt(): Promise<boolean> {
  const sources = (await readdir(ROOT, { recursive: true })).map((name) => `${ROOT}/${name}`)
  const times = await Promise.all([...sources, LOCK_FILE].map(async (path) => (await stat(path)).mtimeMs))
  const built = await stat(`${OUTPUT}/${DONE}`).catch(() => null)
  return built !== null && built.mtimeMs > Math.max(...times)
}
