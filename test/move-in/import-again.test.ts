// A repeated import from another server: it reads a finished user again when the result is not here any more.
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createWorkspace } from '../support/import-workspace.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

/** A server on which ben cannot be read until `mend`. */
async function start(records = SMALL_WORLD) {
  const server = await startPlainServer({ records })
  const workspace = createWorkspace()
  const emails = workspace.write('users.txt', `${ANA}\n${BEN}\n`)
  let isBroken = true
  let logins = 0
  server.setIntercept(({ url }, response) => {
    if (url !== '/login') return false
    logins += 1
    if (!isBroken || logins % 2 === 1) return false
    response.writeHead(404).end()
    return true
  })
  const moveIn = (...more: readonly string[]) =>
    workspace.run('import', server.url, '--emails', emails, '--concurrency', '1', ...more)
  return {
    server,
    workspace,
    moveIn,
    mend() {
      isBroken = false
    },
  }
}

test('import reads a user again who was finished before but is not here any more', async () => {
  const { server, workspace, moveIn, mend } = await start()
  await using _server = server
  expect((await moveIn()).exitCode).toBe(1)
  expect(await workspace.dump()).toContain(ANA)
  for (const end of ['', '-wal', '-shm']) rmSync(`${workspace.path('workspace.db')}${end}`, { force: true })
  mend()
  expect(await moveIn()).toMatchObject({ exitCode: 0, stderr: '' })
  const dumped = await workspace.dump()
  for (const email of [ANA, BEN]) expect(dumped).toContain(email)
})

test('import reads a user without a workspace, and one who failed, again in the next run', async () => {
  const { server, workspace, moveIn, mend } = await start()
  await using _server = server
  const before = server.workspaces.get(ANA)
  server.workspaces.delete(ANA)
  // That they are stored here already makes no difference.
  await workspace.load([ANA, BEN].map((email) => documentLine('template', email, '{"id":"here"}')).join(''))
  const first = await moveIn()
  expect([first.exitCode, first.stderr]).toEqual([
    1,
    expect.stringContaining('users without a workspace there, for whom nothing was imported: 1'),
  ])
  if (before) server.workspaces.set(ANA, before)
  mend()
  expect(await moveIn()).toMatchObject({ exitCode: 0, stderr: '' })
  const dumped = await workspace.dump()
  for (const name of ['Site', 'Secret of ben']) expect(dumped).toContain(`"name":"${name}"`)
})

test('import refuses to continue an import that was begun with other reference fields', async () => {
  const { server, moveIn } = await start()
  await using _server = server
  expect((await moveIn()).exitCode).toBe(1)
  const other = await moveIn('--ref-fields', 'slug')
  expect([other.exitCode, other.stderr]).toEqual([2, expect.stringMatching(/ is of another import .*--ref-fields/)])
})

test('import continues with the state file of an earlier version', async () => {
  const { server, workspace, moveIn, mend } = await start()
  await using _server = server
  expect((await moveIn()).exitCode).toBe(1)
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  const identity = { from: server.url, into: `file:${workspace.path('workspace.db')}`, replace: false }
  workspace.write('users.txt.state', `${digest(JSON.stringify(identity))}\n${digest(ANA)}\n`)
  mend()
  expect(await moveIn()).toMatchObject({ exitCode: 0, stderr: 'users imported by an earlier run: 1, left: 1\n' })
})

test('import reports that no project has an export there, because another member may be the reference', async () => {
  const records = [ANA, BEN].map(
    (email) =>
      documentLine('project', email, '{"id":"p","slug":"site"}') +
      exportLine(email, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"e"'] }),
  )
  const { server, workspace, moveIn, mend } = await start(records.join(''))
  await using _server = server
  mend()
  const none =
    'none of 2 projects has an export there: if that is wrong, set --ref-fields to the members that GET /exports takes as r\n'
  expect(await moveIn()).toMatchObject({ exitCode: 0, stderr: none })
  expect(await moveIn('--ref-fields', 'slug', '--replace')).toMatchObject({ exitCode: 0, stderr: '' })
  expect((await workspace.dump()).match(/"kind":"export"/g)).toHaveLength(2)
})

test('import puts an export after one with a leap second or with a time that Date cannot parse', async () => {
  for (const createdAt of ['2098-12-31T23:59:60Z', '2098-12-31 23:59:59.123456789z']) {
    const project = documentLine('project', ANA, '{"id":"p","ref":"site"}')
    const { server, workspace, moveIn, mend } = await start(
      project + exportLine(ANA, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"there"'] }),
    )
    await using _server = server
    mend()
    await workspace.load(project + exportLine(ANA, { r: 'site', createdAt, elements: ['"here"'] }))
    expect(await moveIn('--verify')).toMatchObject({
      stderr: expect.stringMatching(/^users without a workspace there, for whom nothing was imported: 1\n$/),
    })
    expect(
      (await workspace.dump()).match(/"createdAt":"2099-01-01T00:00:00.000Z"|"2098-12-31T23:59:59.124Z"/g),
    ).toHaveLength(1)
  }
})
