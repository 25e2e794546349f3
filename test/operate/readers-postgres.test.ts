// Tests commands that rewrite tables of PostgreSQL while others read them.
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { asNewUser, execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { SMALL_WORLD } from '../support/workspaces.ts'

/** Starts a client that has read, and may read more of the same snapshot, until `end` is called. */
async function startReader(url: string, what: string): Promise<{ readonly end: () => Promise<void> }> {
  const client = new Client({ connectionString: url })
  let ended: Promise<void> | undefined
  const end = () => (ended ??= client.end())
  onTestFinished(end)
  await client.connect()
  await client.query(`begin isolation level repeatable read; ${what}`)
  return { end }
}

describe.skipIf(POSTGRES_URL === null)('while a client reads', () => {
  test('vacuum --full gives up on a table in use, says so, and works once it is free', async () => {
    const database = await temporaryDatabase()
    await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
    const stored = (await runHere(['dump', '--database', database])).stdout
    const reader = await startReader(database, 'select count(*) from workspace_gateway.document')
    const vacuum = ['vacuum', '--full', '--database', database, '--connect-timeout', '3000']
    expect(await runHere(vacuum)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^the table document is in use, for example by a dump or a backup: [^\n]+\n$/),
    })
    // Nothing waits behind vacuum any more.
    expect(await execute(database, 'select 1 as free from workspace_gateway.document limit 1')).toEqual([{ free: 1 }])
    await reader.end()
    expect(await runHere(vacuum)).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await runHere(['dump', '--database', database])).stdout).toBe(stored)
  })

  test("keys retire says that the key is still in the files, even if it cannot see the reader's role", async () => {
    const database = await temporaryDatabase()
    const owner = await asNewUser(database)
    const { username } = new URL(owner)
    onTestFinished(() => execute(database, `drop owned by ${username}`).then(() => {}))
    await execute(database, `grant create on database ${new URL(database).pathname.slice(1)} to ${username}`)
    const keys = (command: string, ...args: readonly string[]) =>
      runHere(['keys', command, '--database', owner, '--connect-timeout', '1000', ...args])
    const retire = async () => {
      const kid = /[\w-]{43}/.exec((await keys('rotate')).stdout)?.[0] ?? ''
      return keys('retire', '--force', '--', kid)
    }
    await runHere(['import', '-', '--database', owner], { stdin: SMALL_WORLD })
    const reader = await startReader(database, 'select 1')
    const { exitCode, stdout, stderr } = await retire()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('was removed')])
    expect(stderr).toContain('another process still reads an older state')
    await reader.end()
    expect(await retire()).toMatchObject({ exitCode: 0, stderr: '' })
  })
})
