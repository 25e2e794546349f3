// Tests where the password of PostgreSQL comes from, what is reported if there is none, and which rights a role needs.
import { randomUUID } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run } from './support/command-line.ts'
import {
  asNewUser,
  execute,
  POSTGRES_DIRECTORY,
  POSTGRES_URL,
  temporaryDatabase,
  temporaryServer,
} from './support/postgres.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, documentLine } from './support/workspaces.ts'

describe.skipIf(POSTGRES_URL === null)('a PostgreSQL URL without a password', () => {
  test('takes the password from PGPASSWORD or from a password file, and prints nothing about it', async () => {
    const { users, url } = await createWorkspace()
    const found = { exitCode: 0, stdout: expect.stringContaining(ANA), stderr: '' }
    expect(await users({ PGPASSWORD: url.password })).toEqual(found)
    const lines = ['# of a comment', '*:1:*:*:of-another-port', `127.0.0.1:${url.port}:*:postgres:${url.password}`]
    const home = temporaryDirectory()
    writeFileSync(join(home, '.pgpass'), `${lines.join('\n')}\n`, { mode: 0o600 })
    expect(await users({ HOME: home })).toEqual(found)
    expect(await users({ HOME: '/nowhere', PGPASSFILE: join(home, '.pgpass') })).toEqual(found)
  })

  test('is refused if there is no password, with a list of the places where it could be', async () => {
    const { users, url } = await createWorkspace()
    const home = temporaryDirectory()
    const refused = {
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/asks for a password.*PGPASSWORD.*pgpass/),
    }
    expect(await users({ HOME: home })).toEqual(refused)
    const file = join(home, '.pgpass')
    writeFileSync(file, '*:1:*:*:of-another-port\n', { mode: 0o600 })
    expect(await users({ HOME: home })).toEqual(refused)
    writeFileSync(file, `*:*:*:*:${url.password}\n`)
    chmodSync(file, 0o644)
    const open = await users({ HOME: home })
    expect(open).toEqual(refused)
    // The gateway reconnects again and again, and pgpass would print a line of its own each time.
    expect(open.stderr).toMatch(/^[^\n]*chmod 600[^\n]*\n$/)
    expect(open.stderr).not.toContain(url.password)
  })
})

test.skipIf(POSTGRES_DIRECTORY === null)(
  'a URL of a socket without a user names the one of the operating system, as in libpq',
  async () => {
    const socket = temporaryDirectory()
    chmodSync(socket, 0o777)
    const server = await temporaryServer({ settings: { unix_socket_directories: socket } })
    const { port, password } = new URL(server.url(''))
    const user = userInfo().username
    await execute(server.url('postgres'), `create role "${user}" superuser login password '${password}'`)
    const stdin = documentLine('project', ANA, '{"id":"p"}')
    const database = `postgres:///postgres?host=${socket}&port=${port}`
    const env = { WORKSPACE_GATEWAY_DATABASE: database, PGPASSWORD: password, USER: 'of-the-shell' }
    expect(await run(['import', '-'], { stdin, env })).toMatchObject({ exitCode: 0, stderr: '' })
    const [owner] = await execute(
      server.url('postgres'),
      "select distinct tableowner from pg_tables where schemaname = 'workspace_gateway'",
    )
    expect(owner).toEqual({ tableowner: user })
  },
)

test.skipIf(POSTGRES_URL === null)(
  'the role that the documentation creates can create the schema of the gateway',
  async () => {
    const paper = readFileSync(new URL('../docs/operate/postgresql.md', import.meta.url), 'utf8')
    const [, block = ''] = /```sql\n(.*?)```/s.exec(paper) ?? []
    const name = `wg_test_${randomUUID().replaceAll('-', '')}`
    const statements = block
      .replaceAll('workspace', name)
      .split(/(?<=;)\n/)
      .filter(Boolean)
    expect(statements).toHaveLength(2)
    const server = POSTGRES_URL ?? ''
    onTestFinished(async () => {
      await execute(server, `drop database if exists ${name} with (force)`)
      await execute(server, `drop role if exists ${name}`)
    })
    for (const statement of statements) await execute(server, statement)
    const url = new URL(server)
    Object.assign(url, { username: name, password: 'PASSWORD', pathname: `/${name}` })
    const stdin = documentLine('project', ANA, '{"id":"p"}')
    const env = { WORKSPACE_GATEWAY_DATABASE: url.href }
    expect(await run(['import', '-'], { stdin, env })).toMatchObject({ exitCode: 0, stderr: '' })
  },
)

test.skipIf(POSTGRES_URL === null)('a role needs only an empty schema of its own to create the tables', async () => {
  const owned = await temporaryDatabase()
  const url = await asNewUser(owned)
  await execute(owned, `create schema workspace_gateway authorization ${new URL(url).username}`)
  onTestFinished(() => execute(owned, 'drop schema workspace_gateway cascade').then(() => {}))
  const stdin = documentLine('project', ANA, '{"id":"p"}')
  const env = { WORKSPACE_GATEWAY_DATABASE: url }
  expect(await run(['import', '-'], { stdin, env })).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await run(['users', 'list'], { env })).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(ANA) })
})

async function createWorkspace() {
  const url = new URL(await temporaryDatabase())
  const stdin = documentLine('project', ANA, '{"id":"p"}')
  expect(await run(['import', '-'], { stdin, env: { WORKSPACE_GATEWAY_DATABASE: url.href } })).toMatchObject({
    exitCode: 0,
  })
  const without = url.href.replace(`:${url.password}@`, '@')
  const users = (env: Readonly<Record<string, string>>) =>
    run(['users', 'list'], { env: { WORKSPACE_GATEWAY_DATABASE: without, ...env } })
  return { users, url }
}
