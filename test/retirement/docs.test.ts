// Tests that the commands of retiring-rest.md do what the page says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { ask } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/operate/retiring-rest.md', import.meta.url)), 'utf8')

/** The arguments of each command line on the page. A backslash continues a line. */
const COMMANDS = [...PAGE.matchAll(/```sh\n([^`]*)```/g)].flatMap(([, block = '']) =>
  block
    .replaceAll('\\\n', ' ')
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split(/ +/)
        // Without `npx workspace-gateway`.
        .slice(2)
        .map((word) => word.replaceAll("'", '')),
    ),
)

test('the commands of retiring-rest.md do what the page says', async () => {
  const database = ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
  const named = (name: string) => COMMANDS.filter(([command]) => command === name)
  expect([named('serve').length, named('ledger').length]).toEqual([3, 3])
  for (const args of named('serve')) {
    const { url, kill } = await serveForTest([...args.slice(1), ...database])
    const { status, headers } = await ask(`${url}/projects`)
    const isAnnounced = args.includes('--deprecated')
    expect([status, headers.get('deprecation'), headers.get('sunset')]).toEqual([
      401,
      ...(isAnnounced ? ['@1801353600', 'Wed, 30 Jun 2027 00:00:00 GMT'] : [null, null]),
    ])
    for (const shown of [headers.get('deprecation'), headers.get('sunset')]) {
      if (shown !== null) expect(PAGE).toContain(shown)
    }
    expect(await kill('SIGTERM')).toBe(0)
  }
  for (const args of named('ledger')) {
    const { exitCode, stdout } = await runHere([...args, ...database])
    expect(exitCode).toBe(0)
    if (!args.includes('--from')) expect(stdout).toContain('(refused)')
  }
})
