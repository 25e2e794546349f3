// The commands of docs/operate/moving-in.md, one after the other.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run, serveForTest } from '../support/command-line.ts'
import { startFollowProcess } from '../support/follow.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const PAGE = readFileSync(new URL('../../docs/operate/moving-in.md', import.meta.url), 'utf8')

test('every command of docs/operate/moving-in.md works, in the order of the page', async () => {
  await using old = await startPlainServer({ records: SMALL_WORLD, basePath: '/v1' })
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'users.txt'), [...old.workspaces.keys()].join('\n'))
  const done: string[] = []
  for (const [, command = ''] of PAGE.matchAll(/^npx workspace-gateway (.*)$/gm)) {
    const args = command.split(' ').map((arg) => (arg === 'https://old.example.com/v1' ? old.url : arg))
    const [name = ''] = args
    done.push(name)
    if (name === 'serve') {
      const { url } = await serveForTest(args.slice(1), { cwd })
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
    } else if (name === 'follow' && !args.includes('--once')) {
      const following = startFollowProcess(old.url, args.slice(2), { cwd })
      expect(await following.next()).toMatchObject({ users: 2, failed: 0, outage: null })
      old.workspaces.get(ANA)?.templates.push('{"id":"late"}')
      await following.until(({ changed }) => changed === 1)
      expect(await following.stop()).toEqual({ exitCode: 0, stderr: '' })
    } else {
      const { exitCode, stderr } = await run(args, { cwd })
      expect([exitCode, stderr], command).toEqual([0, ''])
    }
  }
  expect(done).toEqual(['conformance', 'import', 'follow', 'serve', 'follow'])
})
