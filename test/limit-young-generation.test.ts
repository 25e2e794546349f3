// How much memory V8 takes for young objects, in a process of its own: it is a setting of the process.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serveForTest } from './support/command-line.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const LIMIT = new URL('../src/cli/limit-young-generation.ts', import.meta.url).href

/** Allocates so many objects that stay: the young generation grows until it is allowed no more. Prints its size in MiB. */
const allocate = (count: number) => `
import { setTimeout } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
const alive = []
for (let at = 0; at < ${count}; at += 1) {
  alive.push({ at })
  if (at % 5_000 === 0) await setTimeout(1)
}
console.error(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 1_048_576)
`
const LONG = allocate(3_000_000)

async function youngMiB(program: string): Promise<number> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  return Number(stderr)
}

const limited = (limits: string) =>
  `import { limitYoungGeneration } from ${JSON.stringify(LIMIT)}\nconst limit = limitYoungGeneration(${limits})\n`

test('the young generation takes 32 MiB and no more', async () => {
  expect(await youngMiB(LONG)).toBeGreaterThan(32)
  expect(await youngMiB(limited('') + LONG)).toBeLessThanOrEqual(32)
  expect(await youngMiB(`${limited('')}limit[Symbol.dispose]()\n${LONG}`)).toBeGreaterThan(32)
})

test('more where it may have more once it has been busy for a while, and a burst may not', async () => {
  const whenBusy = limited('{ maxBytesWhenBusy: 67_108_864 }')
  const burst = await youngMiB(allocate(1_500_000))
  expect(burst).toBeGreaterThan(32)
  expect(await youngMiB(whenBusy + allocate(1_500_000))).toBeLessThanOrEqual(32)
  const keepBusy =
    'const until = performance.now() + 2_500\nwhile (performance.now() < until) await new Promise(setImmediate)\n'
  expect(await youngMiB(whenBusy + keepBusy + LONG)).toBe(64)
})

test('a gateway that is busy takes 64 MiB', async () => {
  const cwd = temporaryDirectory()
  const busy = join(cwd, 'busy.mjs')
  writeFileSync(busy, LONG)
  const onSignal = join(cwd, 'on-signal.mjs')
  writeFileSync(onSignal, "process.once('SIGUSR2', () => import('./busy.mjs'))\n")
  const serving = await serveForTest([], { cwd, env: { NODE_OPTIONS: `--import ${onSignal}` } })
  serving.process.kill('SIGUSR2')
  await expect.poll(() => /^\d+(\.\d+)?$/m.exec(serving.stderr())?.[0]).toBeDefined()
  // Without a limit it is 128.
  expect(Number(/^\d+(\.\d+)?$/m.exec(serving.stderr())?.[0])).toBeLessThanOrEqual(64)
})
