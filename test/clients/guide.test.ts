// Compares the code in the guide for frontends with the code that the tests of this directory run.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const GUIDE = readFileSync(new URL('../../docs/guide/frontends.md', import.meta.url), 'utf8')
const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The lines of code, without comments and empty lines. */
function codeOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('//') && !line.startsWith('#'))
}

test('the lines of each code block in the guide for frontends occur in one file of this directory, in order', () => {
  const files = readdirSync(HERE).map((file) => codeOf(readFileSync(`${HERE}${file}`, 'utf8')))
  const blocks = [...GUIDE.matchAll(/^```\w+\n(?<code>.*?)^```$/gms)].map((block) => codeOf(block.groups?.code ?? ''))
  expect(blocks.flat().length).toBeGreaterThan(8)
  for (const block of blocks) {
    expect(
      files.some((lines) => occursIn(block, lines)),
      block.join('\n'),
    ).toBe(true)
  }
})

/** Whether the lines have the snippets in this order, perhaps with other lines between them. */
function occursIn(snippets: readonly string[], lines: readonly string[]): boolean {
  let at = 0
  for (const snippet of snippets) {
    at = lines.findIndex((line, index) => index >= at && (line.endsWith(snippet) || line.startsWith(snippet))) + 1
    if (at === 0) return false
  }
  return true
}
