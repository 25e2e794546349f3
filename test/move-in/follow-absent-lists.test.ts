// Old servers that answer 404 for an empty list: with --absent-lists-are-empty, follow believes the 404 of a single list.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { openFollower, startFollow } from '../support/follow.ts'
import { type PlainServer, readerOf, startPlainServer } from '../support/plain-server.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const projectOf = (email: string) => documentLine('project', email, '{"id":"p","ref":"site"}')
const templateOf = (email: string) => documentLine('template', email, '{"id":"t"}')
const exportOf = (email: string) => exportLine(email, { r: 'site', createdAt: '2026-01-31T12:00:00Z', elements: ['1'] })
const bothOf = (email: string) => projectOf(email) + templateOf(email)

const emailsOf = (count: number) => Array.from({ length: count }, (_, at) => `user${at}@example.com`)

/** Follows so many users of a server that answers 404 for an empty list. They are in step after the first round. */
async function followAll(count: number, recordsOf: (email: string, index: number) => string = bothOf) {
  await using opened = new AsyncDisposableStack()
  const emails = emailsOf(count)
  const records = emails.map(recordsOf).join('')
  const server = opened.use(await startPlainServer({ records, areEmptyLists404: true }))
  const store = opened.use(await openTestStore())
  const follower = opened.use(openFollower(server.url, store, { areAbsentListsEmpty: true }))
  const round = () => follower.round(emails.map((email) => ({ email, login: email, label: email })))
  const stored = async () => {
    const holdings = await store.holdingsOf(emails)
    const sum = (kind: 'projects' | 'templates' | 'exports') =>
      holdings.reduce((all, found) => all + (found?.[kind] ?? 0), 0)
    return { projects: sum('projects'), templates: sum('templates'), exports: sum('exports') }
  }
  expect(await round()).toMatchObject({ changed: count, failed: 0 })
  const kept = opened.move()
  return { server, emails, round, stored, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function loseList(server: PlainServer, list: 'projects' | 'templates', emails: readonly string[]): void {
  for (const email of emails) server.workspaces.get(email)?.[list].splice(0)
}

test('a list that two rounds find absent is emptied, as long as the list of somebody else is answered', async () => {
  await using following = await followAll(3)
  const { server, emails, round, stored } = following
  loseList(server, 'templates', emails.slice(0, 1))
  expect(await round()).toMatchObject({ failed: 1, removed: 0 })
  expect(await round()).toMatchObject({ failed: 0, changed: 1, removed: 1 })
  expect(await stored()).toMatchObject({ projects: 3, templates: 2 })
  expect(await round()).toMatchObject({ failed: 0, unchanged: 3 })
})

test.each([
  ['404 for everybody', null],
  ['404, or an empty array', '[]'],
  ['404, or an empty array with white space', ' [\n]\n'],
])('a route that is %s removes nothing, even if only one user has such documents', async (_, others) => {
  await using following = await followAll(3, (email, index) => (index === 0 ? bothOf(email) : projectOf(email)))
  const { server, emails, round, stored } = following
  server.setIntercept((request, response) => {
    if (request.url !== '/templates' || request.headers.authorization === undefined) return false
    if (others === null || readerOf(request) === emails[0]) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(others)
    return true
  })
  for (let count = 0; count < 4; count += 1) expect(await round()).toMatchObject({ failed: 1, removed: 0 })
  expect(await stored()).toMatchObject({ projects: 3, templates: 1 })
  server.setIntercept(null)
  expect(await round()).toMatchObject({ failed: 0, unchanged: 3 })
})

test('a list that four of twenty users lose at once removes nothing', async () => {
  await using following = await followAll(20)
  const { server, emails, round, stored } = following
  loseList(server, 'projects', emails.slice(0, 4))
  for (let count = 0; count < 3; count += 1) expect(await round()).toMatchObject({ failed: 4, removed: 0 })
  expect(await stored()).toMatchObject({ projects: 20, templates: 20 })
})

test('a list that is absent in one round says nothing about the list that is absent in the next', async () => {
  await using following = await followAll(3)
  const { server, emails, round, stored } = following
  const [email = ''] = emails
  const before = [...(server.workspaces.get(email)?.templates ?? [])]
  loseList(server, 'templates', [email])
  expect(await round()).toMatchObject({ failed: 1, removed: 0 })
  server.workspaces.get(email)?.templates.push(...before)
  loseList(server, 'projects', [email])
  expect(await round()).toMatchObject({ failed: 1, removed: 0 })
  expect(await stored()).toMatchObject({ projects: 3, templates: 3 })
  expect(await round()).toMatchObject({ failed: 0, removed: 1 })
  expect(await stored()).toMatchObject({ projects: 2, templates: 3 })
})

test('the only documents of a user are removed too when the other lists are [] and not 404', async () => {
  await using following = await followAll(3)
  const { server, emails, round, stored } = following
  const [email = ''] = emails
  loseList(server, 'templates', [email])
  await round()
  expect(await round()).toMatchObject({ failed: 0, removed: 1 })
  loseList(server, 'projects', [email])
  server.setIntercept((request, response) => {
    if (request.url === '/projects' || readerOf(request) !== email) return false
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
    return true
  })
  expect(await round()).toMatchObject({ failed: 1, removed: 0 })
  expect(await round()).toMatchObject({ failed: 0, removed: 1 })
  expect(await stored()).toMatchObject({ projects: 2, templates: 2 })
})

test('a user who loses a list and all exports at once is in step when one loss after the other has been believed', async () => {
  await using following = await followAll(3, (email) => bothOf(email) + exportOf(email))
  const { server, emails, round, stored } = following
  const [email = ''] = emails
  loseList(server, 'templates', [email])
  const exports = new Map(server.workspaces.get(email)?.exports)
  server.workspaces.get(email)?.exports.clear()
  for (let count = 0; count < 2; count += 1) expect(await round()).toMatchObject({ failed: 1, removed: 0 })
  expect(await round()).toMatchObject({ failed: 0, changed: 1, removed: 2 })
  expect(await stored()).toMatchObject({ projects: 3, templates: 2, exports: 2 })
  for (const [ref, one] of exports) server.workspaces.get(email)?.exports.set(ref, one)
  expect(await round()).toMatchObject({ failed: 0, added: 1 })
})

test('follow advises --absent-lists-are-empty, and with it empties a list after --remove-after', async () => {
  const emails = emailsOf(3)
  await using server = await startPlainServer({ records: emails.map(bothOf).join(''), areEmptyLists404: true })
  const database = ['--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const flags = ['--email', emails.join(), ...database]
  const templates = async () => (await runHere(['dump', ...database])).stdout.split('"kind":"template"').length - 1
  const once = (...more: readonly string[]) => runHere(['follow', server.url, '--once', ...flags, ...more])
  expect((await once()).exitCode).toBe(0)
  loseList(server, 'templates', emails.slice(0, 1))
  const plain = await once()
  expect([plain.exitCode, plain.stderr]).toEqual([1, expect.stringContaining('--absent-lists-are-empty')])
  expect(plain.stderr).toContain('after a while without --once')
  const absent = await once('--absent-lists-are-empty')
  expect([absent.exitCode, absent.stderr]).toEqual([
    1,
    expect.stringContaining(': run follow without --once for longer'),
  ])
  expect(await templates()).toBe(3)
  const following = startFollow(server.url, [...flags, '--absent-lists-are-empty'])
  expect(await following.until(({ failed }) => failed === 0)).toMatchObject({ changed: 1, removed: 1 })
  const { stderr } = await following.stop()
  expect([await templates(), stderr]).toEqual([
    2,
    expect.stringMatching(/GET \/templates answered 404 .*--remove-after/),
  ])
})
