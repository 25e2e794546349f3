// The file of users, which follow reads again for each round: a file that is wrong for a while ends nothing.
import { execFileSync } from 'node:child_process'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runHere, startRunForTest } from '../support/command-line.ts'
import { openFollower, startFollow } from '../support/follow.ts'
import { startGateway } from '../support/gateway.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

const WRONG = [
  [
    'contains a line that is not an email',
    (file: string) => writeFileSync(file, `${BEN}\nnobody at all\n`),
    ':2: not an email address',
  ],
  ['is empty', (file: string) => writeFileSync(file, ''), ': names no user'],
  ['is missing', (file: string) => rmSync(file), ': there is no such file'],
  ['cannot be looked up', toItself, 'ELOOP'],
] as const

function toItself(file: string): void {
  rmSync(file)
  symlinkSync(file, file)
}

test.each(WRONG)(
  'a file that %s while follow runs is reported once, and follow goes on with the previous users',
  async (_, spoil, why) => {
    await using server = await startPlainServer({ records: SMALL_WORLD })
    const gateway = await startGateway()
    const file = join(temporaryDirectory(), 'users.txt')
    writeFileSync(file, `${ANA}\n`)
    const following = startFollow(server.url, ['--emails', file, '--database', gateway.databaseUrl])
    await following.next()
    spoil(file)
    for (let rounds = 0; rounds < 3; rounds += 1) await following.next()
    server.workspaces.get(ANA)?.templates.push('{"id":"late"}')
    expect(await following.until(({ changed }) => changed > 0)).toMatchObject({ users: 1, changed: 1, failed: 0 })
    writeFileSync(`${file}.new`, `${ANA}\n${BEN}\n`)
    renameSync(`${file}.new`, file)
    expect(await following.until(({ users }) => users === 2)).toMatchObject({ failed: 0 })
    const { exitCode, stderr } = await following.stop()
    expect(exitCode).toBe(0)
    expect(stderr.split(why).length - 1).toBe(1)
    expect(stderr).toMatch(/: continuing with the users that it named before\n$/)
    expect(stderr).not.toContain('@')
    expect(server.openSessions()).toBe(0)
  },
)

test('follow does not start with a wrong file, and sends no request', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const directory = temporaryDirectory()
  const [file, database] = [join(directory, 'users.txt'), `file:${join(directory, 'new.db')}`]
  for (const [, spoil, why] of WRONG) {
    writeFileSync(file, `${ANA}\n`)
    spoil(file)
    const { exitCode, stderr } = await runHere(['follow', server.url, '--emails', file, '--database', database])
    expect([exitCode, stderr.includes(why)]).toEqual([2, true])
  }
  expect(server.requests).toEqual([])
})

test.skipIf(process.platform === 'win32')('follow reads a list that comes through a pipe once', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const directory = temporaryDirectory()
  const [pipe, database] = [join(directory, 'pipe'), `file:${join(directory, 'new.db')}`]
  execFileSync('mkfifo', [pipe])
  const following = startRunForTest(['follow', server.url, '--emails', pipe, '--once', '--database', database])
  await writeFile(pipe, `${ANA}\n`)
  expect(await following.ended).toMatchObject({ exitCode: 0, stderr: '' })
})

test('a user who is named later has no lag of the time before', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  await using store = await openTestStore()
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await using follower = openFollower(server.url, store)
  const round = (...emails: string[]) => follower.round(emails.map((email) => ({ email, login: email, label: email })))
  expect(await round(ANA)).toMatchObject({ changed: 1, lagSeconds: 0 })
  vi.advanceTimersByTime(3_600_000)
  server.setIntercept(({ url }, response) => {
    if (url === '/login') response.writeHead(404).end()
    return url === '/login'
  })
  expect(await round(ANA, BEN)).toMatchObject({ unchanged: 1, failed: 1, lagSeconds: 0 })
  vi.advanceTimersByTime(60_000)
  expect(await round(ANA, BEN)).toMatchObject({ unchanged: 1, failed: 1, lagSeconds: 60 })
})
