// import of an address without users: it names a file of records, and a server that is meant instead is recognised.
import { expect, test } from 'vitest'
import { createWorkspace } from '../support/import-workspace.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const ADVICE = 'to read a server of the contract, name its users with --email or --emails'

/** What the server answers at its address. */
const ANSWERS = [
  ['an index in JSON', 200, 'application/json', '{"name":"old server"}'],
  ['a page', 200, 'text/html', '<!DOCTYPE html>\n<title>Old server</title>\n'],
  ['404', 404, 'text/html', 'Cannot GET /v1'],
  ['401', 401, 'application/json', '{"error":"Unauthorized"}'],
] as const

test.each(ANSWERS)('a server that answers %s is not taken for a file without a word', async (_, status, type, body) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  server.setIntercept((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body)
    return true
  })
  const { exitCode, stdout, stderr } = await createWorkspace().import(server.url)
  expect([exitCode === 0, stdout]).toEqual([false, ''])
  expect(stderr.trimEnd().endsWith(ADVICE)).toBe(true)
})

test('a file at an address that has a bad line, and a file here, are told without that advice', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const text = `{"kind":"user","email":"${ANA}"}\n{"name":"no record"}\n`
  server.setIntercept((_request, response) => {
    response.end(text)
    return true
  })
  const workspace = createWorkspace()
  const here = workspace.write('bad.ndjson', '{"name":"no record"}\n')
  for (const source of [server.url, here]) {
    const { exitCode, stderr } = await workspace.import(source)
    expect([exitCode, stderr.includes('nothing was imported'), stderr.includes('--email')]).toEqual([1, true, false])
  }
})
