// The commands in the guides work as they are written.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createWorkspace } from './support/import-workspace.ts'
import { ANA, BEN, documentLine, exportLine } from './support/workspaces.ts'

/**
 * These need another process: `import-endpoint.test.ts`, `move-in.test.ts`, `watch-log-size.test.ts` and
 * `operate/backup-stream.test.ts` test them.
 */
const ELSEWHERE = /^serve|--to |https:| \| /
const WORLD = [
  documentLine('project', ANA, '{"id":"p1","ref":"site"}'),
  exportLine(ANA, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['1'] }),
  documentLine('template', BEN, '{"id":"t1"}'),
].join('')

test.each(['guide/import-and-export.md', 'operate/backups.md', 'operate/upgrading.md'])(
  'every command of docs/%s works',
  async (page) => {
    const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8')
    const commands = [...text.matchAll(/^npx workspace-gateway (.*)$/gm)].map(([, command = '']) => command)
    const here = commands.filter((command) => !ELSEWHERE.test(command))
    expect(here.length).toBeGreaterThan(1)
    const workspace = createWorkspace()
    const files = new Map([
      ['workspaces.ndjson', workspace.write('workspaces.ndjson', WORLD)],
      ['/mnt/backups', workspace.directory],
    ])
    if (!here[0]?.startsWith('import')) await workspace.load(WORLD)
    for (const command of here) {
      const args = command
        .split(' ')
        .map((arg) => files.get(arg) ?? (/\.(ndjson|db)$/.test(arg) ? workspace.path(arg) : arg))
      const { exitCode, stderr } = await workspace.run(...args)
      expect([exitCode, stderr], command).toEqual([0, ''])
    }
  },
)
