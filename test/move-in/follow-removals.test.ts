// Users who no longer have a workspace on the old server: follow believes removals unless there are too many at once.
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { openFollower, startFollow } from '../support/follow.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import type { PlainWorkspace } from '../support/plain-workspaces.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const emailsOf = (count: number) => Array.from({ length: count }, (_, at) => `user${at}@example.com`)

const templateOf = (email: string) => documentLine('template', email, '{"id":"t"}')
const projectAndExportOf = (email: string) =>
  documentLine('project', email, '{"id":"p","ref":"site"}') +
  exportLine(email, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"e"'] })

/** A server with so many users, each with the records of `recordsOf`; `stored` counts the stored records of a kind. */
async function startMove(count: number, recordsOf: (email: string) => string = templateOf) {
  const emails = emailsOf(count)
  const server = await startPlainServer({ records: emails.map(recordsOf).join('') })
  const flags = ['--email', emails.join(), '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const stored = async (kind = 'template') =>
    (await runHere(['dump', ...flags.slice(2)])).stdout.split(`"kind":"${kind}"`).length - 1
  const once = (...more: readonly string[]) => runHere(['follow', server.url, '--once', ...flags, ...more])
  return { server, emails, flags, stored, once }
}

function removeWorkspaces(server: PlainServer, emails: readonly string[]): void {
  for (const email of emails) server.workspaces.delete(email)
}

/** What a server answers that has lost its database and takes everybody for a new user. */
function emptyWorkspaces(server: PlainServer, emails: readonly string[]): void {
  for (const email of emails) {
    server.workspaces.set(email, { projects: [], templates: [], uiLibraries: [], exports: new Map() })
  }
}

test.each([
  ['all of two that are gone', 2, 2, removeWorkspaces],
  ['four of twenty that are gone', 20, 4, removeWorkspaces],
  ['all of two that are empty', 2, 2, emptyWorkspaces],
  ['four of twenty that are empty', 20, 4, emptyWorkspaces],
])(
  'too many losses at once remove nothing (%s): the users fail, and are in step again when they are back',
  async (_, count, lost, lose) => {
    const { server, emails, flags, stored } = await startMove(count)
    await using _server = server
    const following = startFollow(server.url, flags)
    await following.until(({ changed }) => changed === count)
    const before = new Map(server.workspaces)
    lose(server, emails.slice(0, lost))
    for (let round = 0; round < 4; round += 1) {
      expect(await following.until(({ doubted }) => doubted > 0)).toMatchObject({
        doubted: lost,
        failed: lost,
        missing: 0,
        removed: 0,
      })
    }
    expect(await stored()).toBe(count)
    for (const [email, workspace] of before) server.workspaces.set(email, workspace)
    await following.until(({ unchanged, failed }) => unchanged === count && failed === 0)
    await following.stop()
  },
)

test.each([
  ['three of thirty', 30, 3, []],
  ['all of two with --remove-many', 2, 2, ['--remove-many']],
])('workspaces that are gone are removed (%s)', async (_, count, gone, options) => {
  const { server, emails, flags, stored } = await startMove(count)
  await using _server = server
  const following = startFollow(server.url, [...flags, ...options])
  await following.until(({ changed }) => changed === count)
  removeWorkspaces(server, emails.slice(0, gone))
  expect(await following.until(({ removed }) => removed > 0)).toMatchObject({ missing: gone, removed: gone, failed: 0 })
  expect(await stored()).toBe(count - gone)
  await following.stop()
})

test.each([
  ['one of one', 1, 1],
  ['three of thirty', 30, 3],
])(
  'workspaces of %s that are empty there are emptied here when the next round finds the same',
  async (_, count, emptied) => {
    const { server, emails, flags, stored } = await startMove(count)
    await using _server = server
    const following = startFollow(server.url, flags)
    await following.until(({ changed }) => changed === count)
    emptyWorkspaces(server, emails.slice(0, emptied))
    expect(await following.until(({ failed }) => failed === emptied)).toMatchObject({ failed: emptied, removed: 0 })
    expect(await following.next()).toMatchObject({ changed: emptied, removed: emptied, failed: 0 })
    expect([await stored(), await stored('user')]).toEqual([count - emptied, emptied])
    const { stderr } = await following.stop()
    expect(stderr.match(/every list is empty there, .*--remove-after/g)).toHaveLength(emptied)
  },
)

test.each([
  ['a workspace that is gone', removeWorkspaces, 'waiting'],
  ['a workspace that is empty', emptyWorkspaces, 'failed'],
  ['all exports of a user that are 404', loseExports, 'failed'],
] as const)(
  'nothing is removed before --remove-after has passed, however often the loss is found: %s',
  async (_, lose, counted) => {
    const { server, emails, flags, stored } = await startMove(1, projectAndExportOf)
    await using _server = server
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const following = startFollow(server.url, [...flags, '--remove-after', '30s'])
    await following.until(({ changed }) => changed === 1)
    const before = { ...(server.workspaces.get(emails[0] ?? '') as PlainWorkspace) }
    const exports = new Map(before.exports)
    async function loseFor(milliseconds: number): Promise<void> {
      lose(server, emails)
      await following.until((round) => round[counted] === 1)
      for (let left = milliseconds; left > 0; left -= 5_000) {
        vi.advanceTimersByTime(5_000)
        // The next round that is reported may have begun before.
        await following.next()
        expect(await following.next()).toMatchObject({ [counted]: 1, removed: 0 })
      }
    }
    await loseFor(25_000)
    server.workspaces.set(emails[0] ?? '', { ...before, exports: new Map(exports) })
    await following.until(({ unchanged }) => unchanged === 1)
    // The time begins anew.
    await loseFor(25_000)
    expect(await stored('export')).toBe(1)
    vi.advanceTimersByTime(5_000)
    expect((await following.until(({ removed }) => removed > 0)).removed).toBeGreaterThan(0)
    expect(await stored('export')).toBe(0)
    await following.stop()
  },
)

test('a clock that is set forward does not make a loss older', async () => {
  const { server, emails, flags, stored } = await startMove(1)
  await using _server = server
  let setBy = 0
  const clock = () => Date.now() + setBy
  const following = startFollow(server.url, [...flags, '--remove-after', '1h'], { clock })
  await following.until(({ changed }) => changed === 1)
  removeWorkspaces(server, emails)
  await following.until(({ waiting }) => waiting === 1)
  setBy = 7_200_000
  // The next round that is reported may have begun before.
  for (let round = 0; round < 3; round += 1) {
    expect(await following.next()).toMatchObject({ waiting: 1, removed: 0 })
  }
  await following.stop()
  expect(await stored()).toBe(1)
})

test.each([
  ['is empty', emptyWorkspaces, 'user'],
  ['is gone', removeWorkspaces, null],
])('a single round removes nothing when a workspace %s, unless --remove-many is given', async (_, lose, left) => {
  const { server, emails, stored, once } = await startMove(2)
  await using _server = server
  expect((await once()).exitCode).toBe(0)
  lose(server, emails.slice(0, 1))
  expect((await once()).exitCode).toBe(1)
  expect(await stored()).toBe(2)
  expect(await once('--remove-many')).toMatchObject({ exitCode: 0, stderr: '' })
  expect([await stored(), await stored('user')]).toEqual([1, left === null ? 0 : 1])
  lose(server, emails)
  expect(await once('--remove-many')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await stored()).toBe(0)
})

test('follow --once exits with 1 when some users are not in step, and says why', async () => {
  const { server, emails, stored, once } = await startMove(12)
  await using _server = server
  expect(await once()).toMatchObject({ exitCode: 0, stderr: '' })
  server.workspaces.delete(emails[0] ?? '')
  const one = await once()
  expect([one.exitCode, one.stdout]).toEqual([
    1,
    expect.stringMatching(/ 1 not there, 0 failed, .* still have a workspace here: 1 \(--remove-many removes/),
  ])
  for (const email of emails.slice(1, 6)) server.workspaces.delete(email)
  const many = await once()
  expect([many.exitCode, many.stdout]).toEqual([1, expect.stringContaining('6 users no longer have a workspace there')])
  expect(many.stdout).toContain('--remove-many')
  // They are named once.
  expect(many.stdout).not.toContain('still have a workspace here')
  expect(await stored()).toBe(12)
})

test('follow --once says that it removes nothing of a workspace that is empty, however often it is run', async () => {
  const { server, emails, stored, once } = await startMove(3)
  await using _server = server
  expect((await once()).exitCode).toBe(0)
  emptyWorkspaces(server, emails.slice(0, 1))
  for (let run = 0; run < 3; run += 1) {
    const { exitCode, stderr } = await once('--remove-after', '0s')
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('--once removes none of it: run follow without --once'),
    ])
  }
  expect(await stored()).toBe(3)
})

/** Answers this list with 404, while the other lists are answered. */
function refuseList(server: PlainServer, path: string): void {
  server.setIntercept(({ url, headers }, response) => {
    if (url !== path || headers.authorization === undefined) return false
    response.writeHead(404).end()
    return true
  })
}

test('a list that alone is 404 removes nothing: its user fails, keeps everything, and is in step again when the list is back', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = ['--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const stored = async () => (await runHere(['dump', ...database])).stdout
  const following = startFollow(server.url, ['--email', ANA, ...database])
  await following.until(({ changed }) => changed === 1)
  const before = await stored()
  refuseList(server, '/projects')
  server.workspaces.get(ANA)?.templates.push('{"id":"meanwhile"}')
  for (let round = 0; round < 4; round += 1) {
    expect(await following.until(({ failed }) => failed > 0)).toMatchObject({ failed: 1, removed: 0, missing: 0 })
  }
  expect(await stored()).toBe(before)
  server.setIntercept(null)
  expect(await following.until(({ failed }) => failed === 0)).toMatchObject({ changed: 1, removed: 0 })
  expect(await stored()).toContain('"meanwhile"')
  const { stderr } = await following.stop()
  expect(stderr).toMatch(
    /^--email, address 1: GET \/projects answered 404 although other lists did not, .*--remove-many[^\n]*\n$/,
  )
  expect(stderr).not.toContain(ANA)
})

test('a list that alone is 404 counts as empty when nothing of it is stored, or with --remove-many', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const database = ['--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const once = (...more: readonly string[]) =>
    runHere(['follow', server.url, '--once', '--email', ANA, ...database, ...more])
  refuseList(server, '/templates')
  expect(await once()).toMatchObject({ exitCode: 0, stderr: '' })
  server.setIntercept(null)
  expect((await once()).exitCode).toBe(0)
  refuseList(server, '/templates')
  expect((await once()).exitCode).toBe(1)
  expect((await runHere(['dump', ...database])).stdout).toContain('"kind":"template"')
  expect(await once('--remove-many')).toMatchObject({ exitCode: 0, stderr: '' })
  const kept = (await runHere(['dump', ...database])).stdout
  expect([kept.includes('"kind":"template"'), kept.includes('"kind":"project"')]).toEqual([false, true])
})

/** Makes `GET /exports` of these users 404. */
function loseExports(server: PlainServer, emails: readonly string[]): void {
  for (const email of emails) server.workspaces.get(email)?.exports.clear()
}

test.each([
  ['all of two', 2, 2],
  ['four of twenty', 20, 4],
])('exports of %s that are 404 while their projects exist are not removed', async (_, count, users) => {
  const { server, emails, flags, stored } = await startMove(count, projectAndExportOf)
  await using _server = server
  const following = startFollow(server.url, flags)
  await following.until(({ changed }) => changed === count)
  loseExports(server, emails.slice(0, users))
  await following.until(({ failed }) => failed > 0)
  for (let round = 0; round < 3; round += 1) {
    expect(await following.next()).toMatchObject({ failed: users, removed: 0, unchanged: count - users })
  }
  expect(await stored('export')).toBe(count)
  const { stderr } = await following.stop()
  expect(stderr.match(/GET \/exports answered 404 for every project/g)).toHaveLength(users)
})

test.each([
  ['of one user of one', 1, 1],
  ['of three users of thirty', 30, 3],
])('exports %s that are 404 for two rounds are removed', async (_, count, users) => {
  const { server, emails, flags, stored } = await startMove(count, projectAndExportOf)
  await using _server = server
  const following = startFollow(server.url, flags)
  await following.until(({ changed }) => changed === count)
  loseExports(server, emails.slice(0, users))
  expect(await following.until(({ failed }) => failed > 0)).toMatchObject({ failed: users, removed: 0 })
  expect(await following.next()).toMatchObject({ failed: 0, changed: users, removed: users })
  expect(await stored('export')).toBe(count - users)
  expect(await following.next()).toMatchObject({ failed: 0, unchanged: count })
  await following.stop()
})

test('exports of all of two users are removed at once with --remove-many', async () => {
  const { server, emails, stored, once } = await startMove(2, projectAndExportOf)
  await using _server = server
  expect(await once()).toMatchObject({ exitCode: 0, stderr: '' })
  loseExports(server, emails)
  expect(await once()).toMatchObject({ exitCode: 1 })
  expect(await stored('export')).toBe(2)
  expect(await once('--remove-many')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await stored('export')).toBe(0)
})

/** Follows one user with a project, a template and an export, who is in step after the first round. */
async function followOne() {
  await using opened = new AsyncDisposableStack()
  const [email = ''] = emailsOf(1)
  const server = opened.use(await startPlainServer({ records: projectAndTemplateOf(email) }))
  const store = opened.use(await openTestStore())
  const follower = opened.use(openFollower(server.url, store))
  const round = () => follower.round([{ email, login: email, label: email }])
  expect(await round()).toMatchObject({ changed: 1 })
  const kept = opened.move()
  return { server, store, email, round, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

test('a user who loses something else while a loss is being settled counts as failed, and keeps the data of both losses', async () => {
  await using following = await followOne()
  const { server, store, email, round } = following
  loseExports(server, [email])
  expect(await round()).toMatchObject({ failed: 1 })
  let asked = 0
  server.setIntercept(({ url }, response) => {
    // The second time, the loss of the exports is being settled.
    if (url === '/templates') asked += 1
    if (url !== '/templates' || asked < 2) return false
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
    return true
  })
  expect(await round()).toMatchObject({ failed: 1, changed: 0, removed: 0 })
  expect((await store.holdingsOf([email]))[0]).toMatchObject({ templates: 1, exports: 1 })
})

test('a user who loses a list and all exports is in step as soon as the loss of the exports is believed', async () => {
  await using following = await followOne()
  const { server, store, email, round } = following
  loseList(server, 'templates', [email])
  loseExports(server, [email])
  expect(await round()).toMatchObject({ failed: 1, removed: 0 })
  expect(await round()).toMatchObject({ failed: 0, changed: 1, removed: 2 })
  expect((await store.holdingsOf([email]))[0]).toMatchObject({ projects: 1, templates: 0, exports: 0 })
})

const projectAndTemplateOf = (email: string) => projectAndExportOf(email) + templateOf(email)

type List = 'projects' | 'templates'

/** Makes one list `[]`; the other lists of the users stay. */
function loseList(server: PlainServer, list: List, emails: readonly string[]): void {
  for (const email of emails) server.workspaces.get(email)?.[list].splice(0)
}

test.each<[list: List, many: string, count: number, users: number]>([
  ['projects', 'all of two', 2, 2],
  ['projects', 'four of twenty', 20, 4],
  ['templates', 'all of two', 2, 2],
  ['templates', 'four of twenty', 20, 4],
])('%s of %s are not removed when their list is empty and other lists are not', async (list, _, count, users) => {
  const { server, emails, flags, stored } = await startMove(count, projectAndTemplateOf)
  await using _server = server
  const following = startFollow(server.url, flags)
  await following.until(({ changed }) => changed === count)
  const before = emails.map((email) => [...(server.workspaces.get(email)?.[list] ?? [])])
  loseList(server, list, emails.slice(0, users))
  for (let round = 0; round < 4; round += 1) {
    expect(await following.until(({ failed }) => failed > 0)).toMatchObject({ failed: users, removed: 0 })
  }
  expect([await stored('project'), await stored('export'), await stored()]).toEqual([count, count, count])
  for (const [index, email] of emails.entries())
    server.workspaces.get(email)?.[list].splice(0, 1, ...(before[index] ?? []))
  await following.until(({ unchanged, failed }) => unchanged === count && failed === 0)
  const { stderr } = await following.stop()
  const told = stderr.split('\n').filter((line) => line.includes(`GET /${list} answered an empty list, `))
  expect([told.length, told.every((line) => line.includes('--remove-many'))]).toEqual([users, true])
})

test('lists that few users each have lost are emptied, even when many users have lost one list or another', async () => {
  const { server, emails, stored, once } = await startMove(6, projectAndTemplateOf)
  await using _server = server
  expect((await once()).exitCode).toBe(0)
  loseList(server, 'projects', emails.slice(0, 3))
  loseList(server, 'templates', emails.slice(3))
  expect(await once()).toMatchObject({ exitCode: 0, stderr: '' })
  expect([await stored('project'), await stored('export'), await stored()]).toEqual([3, 3, 3])
})

test.each([
  ['one user of one, who has other documents', 1, 1],
  ['three users of thirty', 30, 3],
])('the projects of %s are removed in the round that finds their list empty', async (_, count, users) => {
  const { server, emails, stored, once } = await startMove(count, projectAndTemplateOf)
  await using _server = server
  expect((await once()).exitCode).toBe(0)
  loseList(server, 'projects', emails.slice(0, users))
  expect(await once()).toMatchObject({ exitCode: 0, stderr: '' })
  expect([await stored('project'), await stored('export'), await stored()]).toEqual([
    count - users,
    count - users,
    count,
  ])
})

test('the projects of all of two users are removed at once with --remove-many', async () => {
  const { server, emails, stored, once } = await startMove(2, projectAndTemplateOf)
  await using _server = server
  expect((await once()).exitCode).toBe(0)
  loseList(server, 'projects', emails)
  expect((await once()).exitCode).toBe(1)
  expect(await stored('project')).toBe(2)
  expect(await once('--remove-many')).toMatchObject({ exitCode: 0, stderr: '' })
  expect([await stored('project'), await stored('export'), await stored()]).toEqual([0, 0, 2])
})
