// Tests what `.ci/run` learns from a run of tests: which files failed, so that they get a second try, alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from './support/temporary-directory.ts'

const ROOT = join(import.meta.dirname, '..')
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')
const PASSES = "test('passes', () => {})"
const FAILS = "test('fails', () => { throw new Error('is wrong') })"
const FAILS_IN_A_HOOK = `beforeAll(() => { throw new Error('did not start') }); ${PASSES}`
const IS_SKIPPED = "test.skip('is left out', () => {})"
const HAS_UNHANDLED = `${PASSES}; void Promise.reject(new Error('nobody waits for this'))`

/** Runs files of these contents; resolves to the names of those that are worth a second try. */
async function runFiles(contents: readonly string[]) {
  const directory = temporaryDirectory()
  for (const [index, content] of contents.entries()) {
    writeFileSync(join(directory, `${index}.test.js`), `import { beforeAll, test } from 'vitest'\n${content}\n`)
  }
  const reporter = JSON.stringify(join(ROOT, 'test/support/ci-reporter.ts'))
  writeFileSync(
    join(directory, 'vitest.config.js'),
    `import { CiReporter } from ${reporter}
export default { test: { include: ['*.test.js'], maxWorkers: 1, isolate: false, reporters: [new CiReporter()] } }`,
  )
  const list = join(directory, 'failed')
  const child = spawn(process.execPath, [VITEST, 'run'], {
    cwd: directory,
    env: { ...process.env, TEST_FAILED_FILES: list },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return {
    code,
    errors,
    failed: readFileSync(list, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((file) => basename(file)),
  }
}

test('files with a failed test or hook are worth a second try', async () => {
  const { code, failed, errors } = await runFiles([PASSES, FAILS, FAILS_IN_A_HOOK])
  expect(failed.toSorted()).toEqual(['1.test.js', '2.test.js'])
  expect(code).toBe(1)
  expect(errors).not.toContain('Nothing may be skipped')
})

test.each([
  ['a test was skipped', [FAILS, IS_SKIPPED]],
  ['an error was not handled', [FAILS, HAS_UNHANDLED]],
  ['many files failed', Array.from({ length: 6 }, () => FAILS)],
])('no file is tried again, and the run has failed, if %s', async (_, contents) => {
  expect(await runFiles(contents)).toMatchObject({ code: 1, failed: [] })
})

test('a run fails because of a skipped test alone, and names it', async () => {
  const { code, errors, failed } = await runFiles([PASSES, IS_SKIPPED])
  expect([code, failed]).toEqual([1, []])
  expect(errors).toContain('skipped: 1.test.js > is left out')
})
