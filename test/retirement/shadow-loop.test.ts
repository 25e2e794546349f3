// Tests a shadow whose address leads back to the gateway, as when the old server's name was moved to it: no request
// loops.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

test.each([
  ['ours', 200, 'equal'],
  ['old', 503, 'oldAway'],
])(
  'with --answer-from %s, a read comes back at most once to answer and once to compare, and the log says why',
  async (from, status, outcome) => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
    const port = await freePort('127.0.0.1')
    const shadow = ['--shadow', `http://127.0.0.1:${port}`, '--answer-from', from, '--access-log', 'json']
    const gateway = await serveForTest(['--port', String(port), '--database', database, ...shadow])
    const { accessToken } = await openSession(gateway.url, ANA)
    expect((await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })).status).toBe(status)
    const asked = () => gateway.stderr().match(/"route":"\/projects","status"/g)?.length
    const expected = from === 'old' ? 3 : 2
    await expect.poll(asked).toBe(expected)
    expect(await gateway.kill('SIGTERM')).toBe(0)
    expect(asked()).toBe(expected)
    expect(gateway.stderr()).toContain('"reason":"the address of the old server leads back to this gateway"')
    expect(gateway.stderr()).toContain(`"${outcome}":1`)
  },
)
