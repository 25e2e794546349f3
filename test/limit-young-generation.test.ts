// How much memory V8 takes for young objects, in a process of its own: it is a setting of the process.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const LIMIT = new URL('../src/cli/limit-young-generation.ts', import.meta.url).href

/** Allocates what lives a little while: the young generation grows until it is allowed no more. Prints its size in MiB. */
const BUSY = `
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
const alive = new Array(400_000)
for (let at = 0; at < 12_000_000; at += 1) {
  alive[at % alive.length] = { at }
  if (at % 10_000 === 0) await setImmediate()
}
console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 1_048_576)
`

async function youngMiB(before: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', before + BUSY])
  return Number(stdout)
}

test('the young generation takes 32 MiB and no more', async () => {
  expect(await youngMiB('')).toBeGreaterThan(32)
  const limiting = `import { limitYoungGeneration } from ${JSON.stringify(LIMIT)}\nconst limit = limitYoungGeneration()\n`
  expect(await youngMiB(limiting)).toBeLessThanOrEqual(32)
})

test('it may grow again when the limit is disposed of', async () => {
  const limitedOnce = `import { limitYoungGeneration } from ${JSON.stringify(LIMIT)}\nlimitYoungGeneration()[Symbol.dispose]()\n`
  expect(await youngMiB(limitedOnce)).toBeGreaterThan(32)
})
