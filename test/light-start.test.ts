// What a start must not load: parts of Node that most gateways never use.
import { expect, test } from 'vitest'
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
