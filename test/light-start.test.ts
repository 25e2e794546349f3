// What a start must not load: parts of Node that most gateways never use, and many small files.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { buildProgram } from './support/build-program.ts'
import { run, serveForTest } from './support/command-line.ts'

/** Makes Node print, at its end, whether it has loaded undici: its `fetch` and `WebSocket`. */
const REPORTS_FETCH = `process.on('exit', () => {
  const has = process.moduleLoadList.includes('NativeModule internal/deps/undici/undici')
  process.stderr.write('fetch is ' + (has ? 'loaded' : 'not loaded') + '\\n')
})`
const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(REPORTS_FETCH)}"` }

test('serve and health do not load fetch', async () => {
  const gateway = await serveForTest(['--database', 'file:light.db', '--log-level', 'silent'], { env })
  expect(await run(['health', gateway.url], { env })).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('fetch is not loaded'),
  })
  await gateway.kill('SIGTERM')
  expect(gateway.stderr()).toContain('fetch is not loaded')
})

test('a packed program loads what every command needs from one file', async () => {
  const folder = dirname(await buildProgram())
  const importsOf = (file: string) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/^import .*from "\.\/(.+)"/gm)].map(([, path]) => path)
  expect(importsOf('main.js')).toEqual([])
  const [start, runtime] = [importsOf('command-line.js'), importsOf('start.js')]
  expect(start).toContain('start.js')
  // The other file has the functions that bundled CommonJS modules call.
  expect(new Set([...start, ...runtime])).toEqual(new Set(['start.js', 'rolldown-runtime.js']))
})
