// Before all tests: one PostgreSQL for the run, TEST_DATABASE_URL or the one from npm.
import type { TestProject } from 'vitest/node'
import { startPostgres, unpackPostgres } from './postgres-server.ts'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  project.provide('postgresReason', 'no PostgreSQL')
  if (given) {
    project.provide('postgresUrl', given)
    return async () => {}
  }
  try {
    const binaries = await unpackPostgres()
    const server = await startPostgres(binaries)
    project.provide('postgresUrl', server.url('postgres'))
    return async () => {
      await server[Symbol.asyncDispose]()
      await binaries[Symbol.asyncDispose]()
    }
  } catch (error) {
    const reason = `no PostgreSQL server can be started here (TEST_DATABASE_URL names another): ${error}`
    console.warn(`The PostgreSQL tests are skipped: ${reason}`)
    project.provide('postgresUrl', null)
    project.provide('postgresReason', reason)
    return async () => {}
  }
}
