// Compares the code in the guide for frontends with the code that the tests of this directory run.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const GUIDE = readFileSync(new URL('../../docs/guide/frontends.md', import.meta.url), 'utf8')
const HERE = fileURLToPath(new URL('.', import.meta.url))

test('every line of code in the guide for frontends occurs in a file of this directory', () => {
  const lines = readdirSync(HERE).flatMap((file) => readFileSync(`${HERE}${file}`, 'utf8').split('\n'))
  const code = lines.map((line) => line.trim())
  const shown = [...GUIDE.matchAll(/^```\w+\n(?<code>.*?)^```$/gms)].flatMap((block) => block.groups?.code?.split('\n'))
  const snippets = shown.flatMap((line) => line?.trim() || [])
  expect(snippets.length).toBeGreaterThan(8)
  for (const snippet of snippets) {
    expect(
      code.some((line) => line.endsWith(snippet) || line.startsWith(snippet)),
      snippet,
    ).toBe(true)
  }
})
