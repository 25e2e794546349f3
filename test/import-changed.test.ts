// The second pass of an import trusts what the first found out, so it must be of the very same bytes.
import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runHere } from './support/command-line.ts'
import { createWorkspace, templateLines } from './support/import-workspace.ts'

/** Of which a file is read. */
const BLOCK_BYTES = 262_144
const LINES = templateLines(0, 10_000)
const CONTENT = LINES.join('')

const changes: readonly (readonly [what: string, change: (path: string) => void])[] = [
  ['another id in a late line', (path) => writeFileSync(path, CONTENT.replace('"id":9000', '"id":9999'))],
  ['a late line that is no longer JSON', (path) => writeFileSync(path, CONTENT.replace('{"id":9000', '["id":9000'))],
  ['two lines that changed places', (path) => writeFileSync(path, swapped(CONTENT, '"id":9000', '"id":9001'))],
  ['a line more', (path) => appendFileSync(path, '\n')],
  ['nothing behind the first block', (path) => truncateSync(path, BLOCK_BYTES)],
]

test.each(changes)(
  'a file that changes while it is imported, %s, is imported up to there, and that is said',
  async (_, change) => {
    const workspace = createWorkspace()
    const path = workspace.write('changing.ndjson', CONTENT)
    let asked = 0
    function clock(): number {
      // Asked for the first time when everything is checked.
      if (asked === 0) change(path)
      asked += 1
      return Date.now()
    }
    const finished = await runHere(['import', path, ...workspace.flags], { clock })
    const stderr = `${path} changed while it was being imported: import it again\n`
    expect(finished).toEqual({ exitCode: 1, stdout: '', stderr })
    const kept = (await workspace.dump()).split('\n').filter(Boolean)
    expect(kept.map((line) => `${line}\n`)).toEqual(LINES.slice(0, kept.length))
    expect(kept.length).toBeLessThan(LINES.length)
  },
)

function swapped(text: string, one: string, other: string): string {
  return text.replace(one, '\0').replace(other, one).replace('\0', other)
}
