// Old servers that answer what no server should: what is wrong stays with the user that it is wrong for.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFollow } from '../support/follow.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const CLEO = 'cleo@example.com'
const WORLD = SMALL_WORLD + documentLine('template', CLEO, '{"id":"t"}')
const newDatabase = () => `file:${join(temporaryDirectory(), 'new.db')}`

test('an export that a server never answers keeps its user back, and nobody else', async () => {
  await using server = await startPlainServer({ records: WORLD })
  server.setIntercept((request, response) => {
    if (request.url !== '/exports?r=site') return false
    // As a proxy does in front of a server that is too slow for this one.
    response.writeHead(504).end()
    return true
  })
  const args = ['--email', `${ANA},${BEN},${CLEO}`, '--database', newDatabase(), '--concurrency', '1']
  const following = startFollow(server.url, args)
  expect(await following.next()).toMatchObject({ users: 3, changed: 2, failed: 1, outage: null })
  server.workspaces.get(BEN)?.templates.push('{"id":"late"}')
  server.workspaces.delete(CLEO)
  expect(await following.next()).toMatchObject({ changed: 1, failed: 1, missing: 1, waiting: 1, outage: null })
  expect(await following.next()).toMatchObject({ unchanged: 1, failed: 1, removed: 1, outage: null })
  server.setIntercept(null)
  expect(await following.until(({ failed }) => failed === 0)).toMatchObject({ changed: 1, outage: null })
  const { exitCode, stderr } = await following.stop()
  expect([exitCode, stderr]).toEqual([0, `--email, address 1: GET ${server.url}/exports answered 504\n`])
  expect(server.openSessions()).toBe(0)
})
