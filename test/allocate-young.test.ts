// Which generation V8 allocates in. It is a setting of the process, so the test starts processes of its own.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serveForTest } from './support/command-line.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const MODULE = new URL('../src/cli/serving/allocate-young.ts', import.meta.url).href

/** Makes objects that stay, then objects that do not, and prints how often the latter filled the young generation. */
const BUSY = `
import { setTimeout } from 'node:timers/promises'
import { GCProfiler } from 'node:v8'
const make = (at) => ({ at, more: { at }, list: [at, at] })
const kept = []
for (let at = 0; at < 400_000; at += 1) kept.push(make(at))
await setTimeout(10)
// Asked for what there was, where an observer is told later, perhaps too late.
const profiler = new GCProfiler()
profiler.start()
// Kept for a moment, so that making it is not optimised away.
for (let at = 0; at < 400_000; at += 1) globalThis.latest = make(at)
const { statistics } = profiler.stop()
console.log(statistics.filter(({ gcType }) => gcType === 'Scavenge').length, kept.length)
`

async function collectionsAfter(before: string): Promise<number> {
  // V8 guesses once the young generation has its full size.
  const args = ['--max-semi-space-size=1', '--input-type=module', '--eval', before + BUSY]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number.parseInt(stdout, 10)
}

test('short-lived objects are not promoted to the old generation because similar objects survived', async () => {
  const young = await collectionsAfter(`import { allocateYoung } from ${JSON.stringify(MODULE)}\nallocateYoung()\n`)
  const guessed = await collectionsAfter('')
  expect(young).toBeGreaterThan(0)
  expect(guessed).toBeLessThan(young / 2)
})

/** Prints the settings of V8 that the program changes. */
const TELL_FLAGS = `
import { syncBuiltinESMExports } from 'node:module'
import v8 from 'node:v8'
const { setFlagsFromString } = v8
v8.setFlagsFromString = (flags) => {
  console.error(flags)
  setFlagsFromString(flags)
}
syncBuiltinESMExports()
`

test.each([1, 2])('a gateway does so in each process that serves: %s', async (workers) => {
  const cwd = temporaryDirectory()
  const tell = join(cwd, 'tell-flags.mjs')
  writeFileSync(tell, TELL_FLAGS)
  const args = ['--no-demo', '--workers', String(workers)]
  const serving = await serveForTest(args, { cwd, env: { NODE_OPTIONS: `--import ${tell}` } })
  const told = () =>
    serving
      .stderr()
      .split('\n')
      .filter((line) => line === '--no-allocation-site-pretenuring')
  await expect.poll(told).toHaveLength(workers)
})
