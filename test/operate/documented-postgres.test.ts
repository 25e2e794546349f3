// Tests the SQL of docs/operate/postgresql.md: a gateway can serve as the roles, and on the database, that it makes.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { ask, bearer, postJson } from '../support/gateway.ts'
import { asNewUser, dropDatabase, execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const PAGE = readFileSync(new URL('../../docs/operate/postgresql.md', import.meta.url), 'utf8')

/** The statements of each block of SQL on the page, with the given name in place of the one there. */
function documented(placeholder: string, name: string): string[][] {
  const blocks = [...PAGE.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql.replaceAll(placeholder, name))
  return blocks.map((sql) => sql.split(';').filter((statement) => statement.trim() !== ''))
}

test.skipIf(POSTGRES_URL === null)('a gateway serves on the database that postgresql.md creates', async () => {
  const server = POSTGRES_URL ?? ''
  const name = `documented_${randomUUID().replaceAll('-', '')}`
  const url = Object.assign(new URL(server), { username: name, password: 'PASSWORD', pathname: `/${name}` }).href
  onTestFinished(async () => {
    await dropDatabase(url)
    await execute(server, `drop role if exists ${name}`)
  })
  const [statements = []] = documented('workspace', name)
  expect(statements).toHaveLength(2)
  for (const statement of statements) await execute(server, statement)
  const gateway = await serveForTest(['--database', url, '--login-guard', 'none'])
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
})

test.skipIf(POSTGRES_URL === null)('a gateway serves as the role that postgresql.md grants few rights', async () => {
  const owner = await temporaryDatabase()
  await runHere(['import', '-', '--database', owner], { stdin: SMALL_WORLD })
  const serving = await asNewUser(owner)
  const { username } = new URL(serving)
  onTestFinished(() => execute(owner, `drop owned by ${username}`).then(() => {}))
  const [, statements = []] = documented('serving', username)
  expect(statements).toHaveLength(5)
  for (const statement of statements) await execute(owner, statement)
  const gateway = await serveForTest(['--database', serving])
  const { accessToken } = (await postJson(`${gateway.url}/login`, { email: ANA })).json()
  expect((await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
  // As the migration of a later version does.
  await execute(owner, 'create table workspace_gateway.later (id bigserial primary key)')
  await execute(serving, 'insert into workspace_gateway.later default values')
  for (const change of [
    ['import', '--replace', '-'],
    ['users', 'remove', ANA],
    ['keys', 'rotate'],
  ]) {
    const { exitCode, stderr } = await runHere([...change, '--database', serving], { stdin: SMALL_WORLD })
    expect([exitCode, stderr], change.join(' ')).toEqual([0, ''])
  }
  await expect(execute(serving, 'drop table workspace_gateway.later')).rejects.toThrow('must be owner')
})

test.skipIf(POSTGRES_URL === null)('a server that logical replication has filled takes writes', async () => {
  const url = await temporaryDatabase()
  const run = async (command: string, stdin = '') => {
    const { exitCode, stderr } = await runHere([...command.split(' '), '--database', url], { stdin })
    expect([exitCode, stderr], command).toEqual([0, ''])
  }
  await run('import -', SMALL_WORLD)
  await run('keys rotate')
  // As on that server: the rows have arrived, the sequences are those of a new database.
  const tables = ['user', 'staged_export', 'staged_user', 'audit_entry']
  for (const table of tables) await execute(url, `alter table workspace_gateway.${table} alter id restart`)
  const [, , statements = []] = documented('serving', 'serving')
  expect(statements).toHaveLength(tables.length)
  for (const statement of statements) await execute(url, statement)
  const exported = exportLine(ANA, { r: 'site', createdAt: '2026-03-01T00:00:00Z', elements: ['1'] })
  await run('import -', exported + documentLine('project', 'new@example.com', '{"id":"p"}'))
  await run('import --replace -', documentLine('project', 'newer@example.com', '{"id":"p"}'))
  await run('keys rotate')
  const entries = await execute(url, `select 1 from workspace_gateway.audit_entry where kind = 'keyAdded'`)
  expect(entries).toHaveLength(2)
})
