// How much memory V8 takes for young objects, in a process of its own: it is a setting of the process.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serveForTest } from './support/command-line.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const LIMIT = new URL('../src/cli/limit-young-generation.ts', import.meta.url).href

/** Allocates what stays: the young generation grows until it is allowed no more. Prints its size in MiB. */
const BUSY = `
import { setTimeout } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
const alive = []
for (let at = 0; at < 3_000_000; at += 1) {
  alive.push({ at })
  if (at % 5_000 === 0) await setTimeout(1)
}
console.error(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 1_048_576)
`

async function youngMiB(before: string): Promise<number> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', before + BUSY])
  return Number(stderr)
}

const limited = `import { limitYoungGeneration } from ${JSON.stringify(LIMIT)}\nconst limit = limitYoungGeneration()\n`

test('the young generation takes 32 MiB and no more', async () => {
  expect(await youngMiB('')).toBeGreaterThan(32)
  expect(await youngMiB(limited)).toBeLessThanOrEqual(32)
  expect(await youngMiB(`${limited}limit[Symbol.dispose]()\n`)).toBeGreaterThan(32)
})

test('of a gateway that is busy too', async () => {
  const cwd = temporaryDirectory()
  const busy = join(cwd, 'busy.mjs')
  writeFileSync(busy, BUSY)
  const onSignal = join(cwd, 'on-signal.mjs')
  writeFileSync(onSignal, "process.once('SIGUSR2', () => import('./busy.mjs'))\n")
  const serving = await serveForTest([], { cwd, env: { NODE_OPTIONS: `--import ${onSignal}` } })
  serving.process.kill('SIGUSR2')
  await expect.poll(() => /^\d+(\.\d+)?$/m.exec(serving.stderr())?.[0]).toBeDefined()
  // Unlimited it is 128. It may double once between two looks.
  expect(Number(/^\d+(\.\d+)?$/m.exec(serving.stderr())?.[0])).toBeLessThanOrEqual(64)
})
