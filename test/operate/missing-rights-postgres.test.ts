// Tests commands as a PostgreSQL role that may only read the tables.
import { expect, onTestFinished, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { asNewUser, execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

test.skipIf(POSTGRES_URL === null)(
  'a command that its role does not permit fails with one sentence; a permitted one works',
  async () => {
    const database = await temporaryDatabase()
    await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
    const stored = (await runHere(['dump', '--database', database])).stdout
    const looking = await asNewUser(database)
    const { username, password } = new URL(looking)
    // Runs before the role is dropped, because its rights depend on the role.
    onTestFinished(() => execute(database, `drop owned by ${username}`).then(() => {}))
    await execute(database, `grant usage on schema workspace_gateway to ${username}`)
    await execute(database, `grant select on all tables in schema workspace_gateway to ${username}`)
    expect(await runHere(['dump', '--database', looking])).toEqual({ exitCode: 0, stdout: stored, stderr: '' })
    for (const command of [
      ['users', 'remove', ANA],
      ['keys', 'rotate'],
      ['import', '-'],
      ['serve', '--port', '0', '--log-level', 'silent'],
    ]) {
      const { exitCode, stdout, stderr } = await runHere([...command, '--database', looking], { stdin: SMALL_WORLD })
      const sentence = expect.stringMatching(
        /^the role in the database URL lacks a privilege for this: permission denied for [^\n]*\n$/,
      )
      expect([exitCode, stdout, stderr], command.join(' ')).toEqual([1, '', sentence])
      expect(stderr).not.toContain(password)
    }
    expect((await runHere(['dump', '--database', database])).stdout).toBe(stored)
  },
)

test.skipIf(POSTGRES_URL === null)('vacuum says that its role may not vacuum, instead of doing nothing', async () => {
  const database = await temporaryDatabase()
  await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
  const serving = await asNewUser(database)
  const { username } = new URL(serving)
  onTestFinished(() => execute(database, `drop owned by ${username}`).then(() => {}))
  const tables = 'all tables in schema workspace_gateway'
  await execute(database, `grant usage on schema workspace_gateway to ${username}`)
  await execute(database, `grant select, insert, update, delete on ${tables} to ${username}`)
  const vacuum = ['vacuum', '--database', serving]
  expect(await runHere(vacuum)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'only the owner of the table audit_entry can vacuum it\n',
  })
  await execute(database, `grant ${new URL(database).username} to ${username}`)
  expect(await runHere(vacuum)).toMatchObject({ exitCode: 0, stderr: '' })
})

test.skipIf(POSTGRES_URL === null)(
  'to begin a move and to cancel one are refused to a role that does not own the tables, and change nothing',
  async () => {
    const database = await temporaryDatabase()
    await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
    const granted = await asNewUser(database)
    const { username } = new URL(granted)
    onTestFinished(() => execute(database, `drop owned by ${username}`).then(() => {}))
    for (const what of ['schema', 'all tables in schema', 'all sequences in schema']) {
      await execute(database, `grant all on ${what} workspace_gateway to ${username}`)
    }
    const moveTo = async (from: string) =>
      runHere(['move', '--online', '--from', from, '--to', await temporaryDatabase()])
    const phase = () => execute(database, 'select phase from workspace_gateway.move')
    const refused = {
      exitCode: 1,
      stderr: expect.stringMatching(/^only the owner of the table \w+ can begin a move, and cancel it$/m),
    }
    expect(await moveTo(granted)).toMatchObject(refused)
    expect(await phase()).toEqual([{ phase: 'live' }])
    // As a killed move leaves it.
    await execute(database, `update workspace_gateway.move set phase = 'copying', move_id = 'm'`)
    expect(await runHere(['move', '--from', granted, '--cancel'])).toMatchObject(refused)
    expect(await phase()).toEqual([{ phase: 'copying' }])
    await execute(database, `grant ${new URL(database).username} to ${username}`)
    expect(await runHere(['move', '--from', granted, '--cancel'])).toMatchObject({ exitCode: 0 })
    expect(await moveTo(granted)).toMatchObject({ exitCode: 0 })
  },
)
