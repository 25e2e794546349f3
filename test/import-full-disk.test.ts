// A disk that fills up during an import, where it keeps its bad lines or its state: one sentence, and another run goes on.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { canMount, canMountLazyDisk, hasFuse, smallDisk } from './support/faults.ts'
import { createWorkspace, templateLines, withoutProgress } from './support/import-workspace.ts'
import { mountLazyDisk } from './support/lazy-disk.ts'
import { startPlainServer } from './support/plain-server.ts'
import { documentLine } from './support/workspaces.ts'

describe.skipIf(!canMount())('a full disk', () => {
  test('under the rejects file ends an import with 1, says that a part is stored, and leaves no rejects file', async () => {
    const workspace = createWorkspace()
    const path = workspace.write('input.ndjson', `${templateLines(0, 3_000).join('')}{}\n`)
    const disk = smallDisk(1_048_576)
    const rejects = join(disk.path, 'rejects.ndjson')
    disk.fill()
    const full = await workspace.import(path, '--keep-going', '--rejects', rejects)
    expect([full.exitCode, full.stdout]).toEqual([1, ''])
    expect(full.stderr.split('\n').slice(-3)).toEqual([
      expect.stringMatching(/^broken off at record \d+: a part is stored; run it again to continue$/),
      expect.stringMatching(/^bad lines cannot be written to \S+rejects\.ndjson: ENOSPC: [^\n]*$/),
      '',
    ])
    disk.empty()
    const again = await workspace.import(path, '--keep-going', '--rejects', rejects)
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringMatching(/1 line was not imported: see \S+\n$/)])
    expect((await workspace.dump()).split('\n').length).toBe(3_001)
  })

  test('under the state of an import from a server ends it with 1 in one sentence, and another run continues', async () => {
    // More users than the digests that fit into one page of the disk.
    const emails = Array.from({ length: 100 }, (_, at) => `user${at}@example.com`)
    await using server = await startPlainServer({
      records: emails.map((email) => documentLine('template', email, '{"id":"t"}')).join(''),
    })
    const workspace = createWorkspace()
    const disk = smallDisk(1_048_576)
    const state = join(disk.path, 'state')
    const users = workspace.write('users.txt', emails.join('\n'))
    const moveIn = async () =>
      withoutProgress(await workspace.run('import', server.url, '--emails', users, '--state', state))
    disk.fill()
    const reason = `--state: cannot write ${state}: ENOSPC: no space left on device, write\n`
    expect(await moveIn()).toEqual({ exitCode: 1, stdout: '', stderr: reason })
    disk.empty()
    server.setIntercept(({ url }) => {
      // The state has its first line by now.
      if (url !== '/login') return false
      server.setIntercept(null)
      disk.fill()
      return false
    })
    expect(await moveIn()).toEqual({ exitCode: 1, stdout: '', stderr: reason })
    expect(server.openSessions()).toBe(0)
    disk.empty()
    const { exitCode, stderr } = await moveIn()
    const [, done = 0, left = 0] =
      /^users imported by an earlier run: (\d+), left: (\d+)\n$/.exec(stderr)?.map(Number) ?? []
    expect([exitCode, done > 0, done + left]).toEqual([0, true, emails.length])
  })
})

if (hasFuse()) {
  describe.skipIf(!(await canMountLazyDisk()))('a temporary folder without files that have no name', () => {
    test('keeps nothing of an import from stdin', async () => {
      const workspace = createWorkspace()
      await using disk = await mountLazyDisk()
      vi.stubEnv('TMPDIR', disk.path)
      onTestFinished(() => void vi.unstubAllEnvs())
      await workspace.load(templateLines(0, 3).join(''))
      expect(readdirSync(disk.path)).toEqual([])
    })
  })
}
