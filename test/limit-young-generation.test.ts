// The size limit of V8’s young generation. It is a setting of the process, so each test measures a process of its own.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serveForTest } from './support/command-line.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const LIMIT = new URL('../src/cli/limit-young-generation.ts', import.meta.url).href

/**
 * Keeps `count` objects alive, so that the young generation grows to its limit. Prints its largest size in MiB: V8
 * makes it small again in a process that rests. With another `pause`, the event loop stays busy meanwhile.
 */
const allocate = (count: number, pause = 'setTimeout(1)') => `
import { setTimeout } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
const alive = []
let most = 0
for (let at = 0; at < ${count}; at += 1) {
  alive.push({ at })
  if (at % 5_000 !== 0) continue
  await ${pause}
  most = Math.max(most, getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)
}
console.error(most / 1_048_576)
`
/** Enough for 64 MiB without a limit. */
const COUNT = 1_000_000
const LONG = allocate(COUNT)
/** Enough for 128 MiB without a limit, and slowly enough that V8 grows at most once between two looks at its size. */
const BUSY = allocate(
  3 * COUNT,
  'new Promise((resume) => { for (const from = performance.now(); performance.now() < from + 2; ); setImmediate(resume) })',
)

async function youngMiB(program: string): Promise<number> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  return Number(stderr)
}

/** A pause twice as long as the work before it, so that the event loop is not busy, however slow the machine is. */
const REST = `
let from = performance.now()
const rest = async () => {
  await setTimeout(2 * (performance.now() - from))
  from = performance.now()
}
`
const NOT_BUSY = REST + allocate(COUNT, 'rest()')

/** Keeps the event loop busy until the limit counts the process as busy. */
const KEEP_BUSY =
  'const until = performance.now() + 2_500\nwhile (performance.now() < until) await new Promise(setImmediate)\n'

const limited = (limits: string) =>
  `import { limitYoungGeneration } from ${JSON.stringify(LIMIT)}\nconst limit = limitYoungGeneration(${limits})\n`

test('the young generation takes at most 32 MiB until the limit is disposed', async () => {
  expect(await youngMiB(LONG)).toBeGreaterThan(32)
  expect(await youngMiB(limited('') + LONG)).toBeLessThanOrEqual(32)
  expect(await youngMiB(`${limited('')}limit[Symbol.dispose]()\n${LONG}`)).toBeGreaterThan(32)
})

test('the young generation may take 64 MiB after the process has been busy for a while, but not if it rests', async () => {
  const whenBusy = limited('{ maxBytesWhenBusy: 67_108_864 }')
  expect(await youngMiB(NOT_BUSY)).toBeGreaterThan(32)
  expect(await youngMiB(whenBusy + NOT_BUSY)).toBeLessThanOrEqual(32)
  expect(await youngMiB(whenBusy + KEEP_BUSY + BUSY)).toBe(64)
})

test('the young generation of a busy gateway grows to 64 MiB and no further', async () => {
  const cwd = temporaryDirectory()
  const busy = join(cwd, 'busy.mjs')
  writeFileSync(busy, KEEP_BUSY + BUSY)
  const onSignal = join(cwd, 'on-signal.mjs')
  writeFileSync(onSignal, "process.once('SIGUSR2', () => import('./busy.mjs'))\n")
  const serving = await serveForTest([], { cwd, env: { NODE_OPTIONS: `--import ${onSignal}` } })
  serving.process.kill('SIGUSR2')
  const young = () => /^\d+(\.\d+)?$/m.exec(serving.stderr())?.[0]
  await expect.poll(young).toBeDefined()
  // Of a process that is not busy it is 32, without a limit 128.
  expect(Number(young())).toBe(64)
})
