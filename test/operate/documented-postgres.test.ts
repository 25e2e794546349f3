// Tests the SQL of docs/operate/postgresql.md: a gateway can serve as the role, and on the database, that it makes.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { serveForTest } from '../support/command-line.ts'
import { dropDatabase, execute, POSTGRES_URL } from '../support/postgres.ts'

const PAGE = readFileSync(new URL('../../docs/operate/postgresql.md', import.meta.url), 'utf8')

test.skipIf(POSTGRES_URL === null)('a gateway serves on the database that postgresql.md creates', async () => {
  const server = POSTGRES_URL ?? ''
  const name = `documented_${randomUUID().replaceAll('-', '')}`
  const url = Object.assign(new URL(server), { username: name, password: 'PASSWORD', pathname: `/${name}` }).href
  onTestFinished(async () => {
    await dropDatabase(url)
    await execute(server, `drop role if exists ${name}`)
  })
  const sql = /```sql\n(.*?)```/s.exec(PAGE)?.[1] ?? ''
  const statements = sql
    .replaceAll('workspace', name)
    .split(';')
    .filter((statement) => statement.trim() !== '')
  expect(statements).toHaveLength(2)
  for (const statement of statements) await execute(server, statement)
  const gateway = await serveForTest(['--database', url, '--login-guard', 'none'])
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
})
