// Prepares the run before all tests: builds the program that they start, and provides one PostgreSQL, either that of
// TEST_DATABASE_URL or the one from npm. TEST_POSTGRES_DIRECTORY names the programs of PostgreSQL if another run has
// unpacked them.
import { tmpdir } from 'node:os'
import type { TestProject } from 'vitest/node'
import { buildProgram } from './build-program.ts'
import { memoryDirectory } from './memory-directory.ts'
import { startPostgres, unpackPostgres } from './postgres-server.ts'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The environment passes these on to the workers and to what they start.
  process.env.TEST_PROGRAM ??= await buildProgram()
  // `setup.ts` chooses one of them for each test file.
  process.env.TEST_DISK ??= tmpdir()
  process.env.TEST_MEMORY ??= process.env.TMPDIR ?? memoryDirectory() ?? tmpdir()
  await using stack = new AsyncDisposableStack()
  const given = process.env.TEST_DATABASE_URL ?? null
  const unpacked = process.env.TEST_POSTGRES_DIRECTORY
  try {
    const binaries = unpacked === undefined ? stack.use(await unpackPostgres()) : { directory: unpacked }
    project.provide('postgresDirectory', binaries.directory)
    project.provide('postgresUrl', given ?? stack.use(await startPostgres(binaries)).url('postgres'))
  } catch (error) {
    const skipped = given ? 'tests that start and crash a PostgreSQL of their own' : 'PostgreSQL tests'
    console.warn(`The ${skipped} are skipped, no server can be started here (TEST_DATABASE_URL names one): ${error}`)
    project.provide('postgresDirectory', null)
    project.provide('postgresUrl', given)
  }
  const running = stack.move()
  return () => running.disposeAsync()
}
