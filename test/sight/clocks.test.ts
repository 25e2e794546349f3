// Tests what happens when the clocks of two gateways on one database differ.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere, serveHereForTest } from '../support/command-line.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine } from '../support/workspaces.ts'

const AHEAD =
  'a token comes from a clock that is ahead of this one: compare the clocks of the gateways, or this one was set back'

test.each([
  [600_000, [{ msg: AHEAD, aheadSeconds: 600 }]],
  [30_000, []],
])('a gateway says once that the clock of another one is %i ms ahead, if that is a lot', async (aheadMs, expected) => {
  const args = ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
  // Tokens have whole seconds.
  const now = Math.floor(Date.now() / 1_000) * 1_000
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

test.skipIf(POSTGRES_URL === null)(
  'what has a clock that is years ahead of the server removes nothing that the others need, and a gateway says so',
  async () => {
    const database = ['--database', await temporaryDatabase()]
    const exports = [0, 1].map((minute) =>
      exportLine(ANA, {
        r: 'p',
        createdAt: new Date(Date.now() - minute * 60_000).toISOString(),
        elements: [`${minute}`],
      }),
    )
    await runHere(['import', '-', ...database], {
      stdin: [documentLine('project', ANA, '{"id":"p"}'), ...exports].join(''),
    })
    const usual = await serveHereForTest(database)
    const { accessToken } = await openSession(usual.url, ANA)
    const get = async (url: string) => (await ask(`${url}/projects`, { headers: bearer(accessToken) })).status
    expect(await get(usual.url)).toBe(200)
    await usual.kill('SIGTERM')

    const decade = 10 * 365 * 86_400_000
    const clock = () => Date.now() + decade
    const pruned = await runHere(['exports', 'prune', '--older-than', '30d', ...database], { clock })
    expect(pruned.stdout).toBe('removed 0 exports (0 B)\n')
    const ahead = await serveHereForTest(database, { clock })
    const warnings = () => jsonLines(ahead.stderr()).filter(({ msg }) => /database server/.test(msg))
    await expect.poll(warnings).toMatchObject([
      {
        level: 40,
        msg: 'the clock of this machine is ahead of that of the database server, which decides what is old',
      },
    ])
    expect(warnings()[0]?.aheadSeconds).toBeCloseTo(decade / 1_000, -1)
    // At its end it writes the audit log and the ledger, and removes old entries.
    await ahead.kill('SIGTERM')

    const { stdout: audit } = await runHere(['audit', ...database])
    expect(jsonLines(audit)).toContainEqual(expect.objectContaining({ kind: 'login' }))
    const { stdout: ledger } = await runHere(['ledger', ...database, '--json'])
    expect(jsonLines(ledger).map(({ route }) => route)).toContain('GET /projects')
    expect(await get((await serveHereForTest(database)).url)).toBe(200)
  },
)
