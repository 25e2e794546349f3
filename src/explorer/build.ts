// npm run build: the browser's code into dist/explorer, every file compressed once, as small as it gets.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build } from 'vite'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const OUTPUT = fileURLToPath(new URL('../../dist/explorer', import.meta.url))

await build({
  root: ROOT,
  configFile: false,
  base: './',
  logLevel: 'error',
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 10_000,
  },
})

const assets = `${OUTPUT}/assets`
const files = (await readdir(assets)).filter((name) => /\.(?:js|css|svg|ttf|json)$/.test(name))
await Promise.all(
  files.map(async (name) => {
    const bytes = await readFile(`${assets}/${name}`)
    const parameters = { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength }
    await writeFile(`${assets}/${name}.br`, await promisify(brotliCompress)(bytes, { params: parameters }))
    await writeFile(`${assets}/${name}.gz`, await promisify(gzip)(bytes, { level: 9 }))
  }),
)
