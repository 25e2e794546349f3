// Compares the code in the guide for frontends with the code that the tests of this directory run.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const GUIDE = readFileSync(new URL('../../docs/guide/frontends.md', import.meta.url), 'utf8')
const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The lines of code, without comments and empty lines. What a test returns, a frontend may assign. */
function codeOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/^return (?=async function |new )/, ''))
    .filter((line) => line !== '' && !line.startsWith('//') && !line.startsWith('#'))
}

test('each code block in the guide for frontends is a part of one file of this directory, line by line', () => {
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

/** Whether the block is among these lines, with nothing between its own. */
function occursIn(block: readonly string[], lines: readonly string[]): boolean {
  return lines.some((_, start) => block.every((line, at) => lines[start + at] === line))
}
