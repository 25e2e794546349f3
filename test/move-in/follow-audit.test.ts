// What follow writes to the audit log: what it did, even in a round that broke off, and whether it reached its end.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { run, runHere } from '../support/command-line.ts'
import { startFollow } from '../support/follow.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine } from '../support/workspaces.ts'

const WORLD = [ANA, BEN].map((email) => documentLine('template', email, `{"id":"t","of":"${email}"}`)).join('')
/** Ana comes before ben. */
const USERS = ['--email', `${ANA},${BEN}`, '--concurrency', '1']

async function start() {
  const path = join(temporaryDirectory(), 'new.db')
  const database = ['--database', `file:${path}`]
  return {
    path,
    database,
    server: await startPlainServer({ records: WORLD }),
    async audit() {
      const { result, detail } = JSON.parse(
        (await runHere(['audit', ...database])).stdout.trim().split('\n').at(-1) ?? '',
      )
      return [result, detail]
    },
  }
}

test.each([
  ['that is stopped with what it had done so far', [], 0, 'done'],
  ['that is stopped with --once as failed, because not everybody is in step', ['--once'], 1, 'failed'],
] as const)('follow records a round %s', async (_, options, exitCode, result) => {
  const { server, database, audit } = await start()
  await using _server = server
  const isAtBen = Promise.withResolvers<void>()
  let logins = 0
  server.setIntercept(({ url }) => {
    if (url !== '/login') return false
    logins += 1
    if (logins === 2) isAtBen.resolve()
    return logins === 2
  })
  const following = startFollow(server.url, [...USERS, ...database, ...options])
  await isAtBen.promise
  const stderr = exitCode === 0 ? '' : 'stopped before all users were read: run it again\n'
  expect(await following.stop()).toEqual({ exitCode, stderr })
  expect(await audit()).toEqual([result, 'follow: 1 added, 0 replaced, 0 removed'])
})

test('follow records an end with an error as failed', async () => {
  const { server, path, database, audit } = await start()
  await using _server = server
  const stdin = documentLine('template', 'cleo@example.com', '{"id":"t"}')
  expect((await runHere(['import', '-', ...database], { stdin })).exitCode).toBe(0)
  {
    using db = new DatabaseSync(path)
    db.exec(`create trigger planted before insert on document when new.text like '%${BEN}%'
      begin select raise(abort, 'planted'); end`)
  }
  const { exitCode, stderr } = await run(['follow', server.url, ...USERS, ...database])
  expect([exitCode === 0, stderr.includes('planted')]).toEqual([false, true])
  expect(await audit()).toEqual(['failed', 'follow: 1 added, 0 replaced, 0 removed'])
})

test('follow --once records a round with a failed user as failed, and the next good one as done', async () => {
  const { server, database, audit } = await start()
  await using _server = server
  server.setIntercept(({ url }, response) => {
    if (url !== '/templates') return false
    response.writeHead(200).end('no list')
    return true
  })
  expect((await runHere(['follow', server.url, '--once', ...USERS, ...database])).exitCode).toBe(1)
  expect(await audit()).toEqual(['failed', 'follow: 0 added, 0 replaced, 0 removed'])
  server.setIntercept(null)
  expect((await runHere(['follow', server.url, '--once', ...USERS, ...database])).exitCode).toBe(0)
  expect(await audit()).toEqual(['done', 'follow: 2 added, 0 replaced, 0 removed'])
})
