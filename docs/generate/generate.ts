// `npm run docs`: writes what is generated of the papers. With --check it writes nothing, and fails when something is stale.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { papers } from './papers.ts'

const isCheck = process.argv.includes('--check')
const stale = papers().filter(({ url, text }) => textOf(url) !== text)
for (const { url, path, text } of stale) {
  process.stdout.write(`${path} ${isCheck ? 'is stale: run `npm run docs`' : 'written'}\n`)
  if (isCheck) continue
  mkdirSync(new URL('.', url), { recursive: true })
  writeFileSync(url, text)
}
if (isCheck && stale.length > 0) process.exitCode = 1

/** Null when there is none yet. */
function textOf(url: URL): string | null {
  try {
    return readFileSync(url, 'utf8')
  } catch {
    return null
  }
}
