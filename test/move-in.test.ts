import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run, runHere, serveForTest } from './support/command-line.ts'
import { startPlainServer } from './support/plain-server.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, BEN, SMALL_WORLD } from './support/workspaces.ts'

async function oldServer() {
  const cwd = temporaryDirectory()
  const database = `file:${join(cwd, 'old.db')}`
  expect((await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })).exitCode).toBe(0)
  const { url } = await serveForTest(['--database', database, '--base-path', '/v1', '--access-token-ttl', '1'], { cwd })
  return { url: `${url}/v1`, database }
}

test('a server of the contract moves in with one command, byte for byte, and moving again adds nothing', async () => {
  const { url, database } = await oldServer()
  const moved = `file:${join(temporaryDirectory(), 'new.db')}`
  const args = ['import', url, '--email', `${ANA},${BEN}`, '--database', moved]
  const first = await run(args)
  expect([first.exitCode, first.stderr]).toEqual([0, ''])
  expect(first.stdout).toContain('7 added, 0 replaced, 0 unchanged')
  const again = await runHere(args)
  expect(again.stdout).toContain('0 added, 0 replaced, 7 unchanged')
  const lines = async (from: string) =>
    (await runHere(['dump', '--database', from])).stdout
      .split('\n')
      // The contract shows the newest export only, and not when it was made.
      .filter((line) => line !== '' && !line.includes('old.html'))
      .map((line) => line.replace(/"createdAt":"[^"]*"/, ''))
  expect(await lines(moved)).toEqual(await lines(database))
})

test('who has no workspace there is said, and is not the end; a server that is not there is', async () => {
  const { url } = await oldServer()
  const moved = `file:${join(temporaryDirectory(), 'new.db')}`
  const nobody = await runHere(['import', url, '--email', `nobody@example.com,${ANA}`, '--database', moved])
  expect([nobody.exitCode, nobody.stderr]).toEqual([0, '1 have no workspace there: nothing was imported for them\n'])
  expect(nobody.stdout).toContain('1 user, 1 not there: 5 added')
  const away = await runHere(['import', 'http://127.0.0.1:1', '--email', ANA, '--database', `${moved}.2`])
  expect([away.exitCode, away.stdout, away.stderr]).toEqual([2, '', 'GET http://127.0.0.1:1/projects: no answer\n'])
  expect(existsSync(`${moved}.2`.slice('file:'.length))).toBe(false)
})

test('documents and elements that the other server writes over several lines come in as they mean', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const workspace = server.workspaces.get(ANA)
  workspace?.templates.splice(0, 9, '{\r\n  "id": "t",\n  "text": "a\\nb"\r}')
  workspace?.exports.set('site', { createdAt: '2026-01-01T00:00:00Z', elements: ['{\n"path": "a"\n}', '[1,\n2.0]'] })
  const moved = `file:${join(temporaryDirectory(), 'new.db')}`
  const { exitCode, stderr } = await runHere(['import', server.url, '--email', ANA, '--database', moved])
  expect([exitCode, stderr]).toEqual([0, ''])
  const { stdout } = await runHere(['dump', '--database', moved])
  const data = (kind: string) => stdout.split('\n').find((line) => line.startsWith(`{"kind":"${kind}"`))
  expect(data('template')).toContain('"data":{    "id": "t",   "text": "a\\nb" }}')
  expect(data('export')).toContain('"data":[{ "path": "a" },[1, 2.0]]}')
})

test('an NDJSON file is imported from its address', async () => {
  const server = createServer((_request, response) => response.end(SMALL_WORLD)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : ''
  const database = `file:${join(temporaryDirectory(), 'new.db')}`
  const imported = await runHere(['import', `http://127.0.0.1:${port}/all.ndjson`, '--database', database])
  expect([imported.exitCode, imported.stderr]).toEqual([0, ''])
  expect(imported.stdout).toContain('8 added')
  server.close()
})
