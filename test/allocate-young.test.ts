// Which generation V8 allocates in, in a process of its own: it is a setting of the process.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MODULE = new URL('../src/cli/serving/allocate-young.ts', import.meta.url).href

/** Objects that stay, then objects that do not. Prints how often the latter filled the young generation. */
const BUSY = `
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
const make = (at) => ({ at, more: { at }, list: [at, at] })
const kept = []
for (let at = 0; at < 400_000; at += 1) kept.push(make(at))
await setTimeout(10)
let collections = 0
new PerformanceObserver((list) => {
  collections += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MINOR).length
}).observe({ entryTypes: ['gc'] })
let count = 0
for (let at = 0; at < 400_000; at += 1) count += make(at).list.length
await setTimeout(10)
console.log(collections, kept.length + count)
`

async function collectionsAfter(before: string): Promise<number> {
  // V8 guesses once the young generation is as large as it gets.
  const args = ['--max-semi-space-size=1', '--input-type=module', '--eval', before + BUSY]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number.parseInt(stdout, 10)
}

test('what lives for a moment is not made old because its like lived on', async () => {
  const young = await collectionsAfter(`import { allocateYoung } from ${JSON.stringify(MODULE)}\nallocateYoung()\n`)
  expect(await collectionsAfter('')).toBeLessThan(young / 2)
})
