// Tests what is logged when the clocks of two gateways on one database differ.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveHereForTest } from '../support/command-line.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN } from '../support/workspaces.ts'

const AHEAD =
  'a token comes from a clock that is ahead of this one: compare the clocks of the gateways, or this one was set back'

test.each([
  [600_000, [{ msg: AHEAD, aheadSeconds: 600 }]],
  [30_000, []],
])('a gateway says once that the clock of another one is %i ms ahead, if that is a lot', async (aheadMs, expected) => {
  const args = ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
  const now = Date.now()
  const behind = await serveHereForTest(args, { clock: () => now })
  const ahead = await serveHereForTest(args, { clock: () => now + aheadMs })
  // Each gateway reads with the tokens of both, and twice with each.
  for (const email of [ANA, BEN]) {
    for (const issuer of [behind, ahead]) {
      const { accessToken } = await openSession(issuer.url, email)
      for (const { url } of [behind, ahead, behind, ahead]) {
        expect((await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(404)
      }
    }
  }
  const warnings = []
  for (const gateway of [behind, ahead]) {
    await gateway.kill('SIGTERM')
    warnings.push(jsonLines(gateway.stderr()).filter(({ level }) => level >= 40))
  }
  expect(warnings).toMatchObject([expected, []])
})
