// The way of an operator from an old server to this one: conformance, import, follow, shadow, switch, ledger. Whatever
// serves, follows or is killed runs in its own process; the old server is killed on the way, and so is the import.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../support/client.ts'
import { runHere, startRun } from '../../support/command-line.ts'
import { type Following, startFollowProcess } from '../../support/follow.ts'
import { type PlainServer, startPlainServer } from '../../support/plain-server.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { startSwitchFront } from '../../support/switch-front.ts'
import { callsInLedger, countCalls } from './calls.ts'
import { startNodes } from './nodes.ts'
import { addUsers, LISTS, type OldWorld, refOf, writeThere } from './old-world.ts'
import { startPeople } from './people.ts'
import { planter } from './planted.ts'

const ROUND_PAUSE_S = 1
/** How much longer a round may take on a machine that is busy with other tests. */
const BUSY_S = 10

export interface AfternoonOptions extends OldWorld {
  /** An empty folder. */
  readonly directory: string
  /** The empty database that everybody moves to. */
  readonly database: string
  /** The number of changes on the old server while it is followed. */
  readonly writes: number
  /** The number of people who read during all of this, before and after the switch. */
  readonly clients: number
  readonly seed: number
  readonly log: (line: string) => void
}

export interface Afternoon {
  /** Whatever was not as it must be; empty when all is well. */
  readonly wrong: readonly string[]
  readonly requests: number
  readonly comparedAnswers: number
  readonly shadowComparisons: number
}

export async function moveInAnAfternoon(options: AfternoonOptions): Promise<Afternoon> {
  const { directory, database, users, clients, writes, log } = options
  const random = createSeededRandom(options.seed)
  const wrong: string[] = []
  const check = (what: string, isSo: boolean): void => {
    log(`${isSo ? 'ok  ' : 'FAIL'}  ${what}`)
    if (!isSo) wrong.push(what)
  }
  await using old = await startPlainServer({ records: '', basePath: '/v1' })
  addUsers(old, options)
  const emails = [...old.workspaces.keys()]
  const [first = '', planted = '', ...others] = emails
  const file = join(directory, 'users.txt')
  writeFileSync(file, emails.map((email) => `${email}\n`).join(''))
  const source = ['--emails', file, '--database', database]

  const conformance = await runHere(['conformance', old.url, '--email', first])
  check(`conformance: ${conformance.stdout.trim().split('\n').at(-1)}`, conformance.exitCode === 0)

  await importKilled(old, source, users)
  log('      the import was killed, and so was the old server')
  restartAfter(old, users)
  const imported = await runHere(['import', old.url, ...source, '--verify'])
  log(`      ${(imported.stdout + imported.stderr).trim().replaceAll('\n', '\n      ')}`)
  check('import goes on, and both sides are the same', imported.exitCode === 0)

  const counter = countCalls(old.url)
  await using front = await startSwitchFront(old.url, counter.add)
  // Rounds without a pause between them would keep a processor and the old server from everybody else.
  const following = startFollowProcess(old.url, [...source, '--interval', `${ROUND_PAUSE_S}s`])
  const people = startPeople(front.url, emails, clients, random)
  try {
    log(`      first round of follow: ${JSON.stringify(await following.next())}`)
    await writeThere(old, [first, ...others], writes, random, 1)
    const { seconds } = await inStep(following)
    log(`      in step, a round takes ${seconds} s`)

    // The old server answers, through both gateways.
    const shadow = ['--shadow', old.url, '--shadow-confirm', `${Math.ceil(seconds * 3) + ROUND_PAUSE_S + BUSY_S}s`]
    await using nodes = await startNodes(database, [...shadow, '--answer-from', 'old'])
    front.switchTo(nodes.urls())
    await people.readOn(clients * 5)
    await writeThere(old, [first, ...others], Math.ceil(writes / 4), random, 2)
    await people.readOn(clients * 5)
    const plant = planter(old, front.url, nodes)
    const here = await plant.here(planted, database)
    plant.mendHere(planted)
    await inStep(following)
    const { exitCode, stderr } = await following.stop()
    check('follow ends when it is told to, and has nothing to complain of', exitCode === 0 && stderr === '')
    const last = await runHere(['follow', old.url, ...source, '--once'])
    check(`one more round: ${last.stdout.trim()}`, last.exitCode === 0)

    // The switch.
    const { signInsAgain } = people.report()
    const before = await nodes.restart(front, shadow)
    await people.readOn(clients * 8)
    const there = await plant.there(first)
    await old.kill({ forgetsSessions: true })
    await people.readOn(clients * 5)
    await old.restart()
    const { compared, differing } = await compareAll(old, front.url)
    const report = await people.stop()
    const after = await nodes.stop()

    for (const line of [...report.failed, ...differing].slice(0, 10)) log(`      ${line}`)
    check(`people: ${report.requests} requests, ${report.failed.length} failed`, report.failed.length === 0)
    check(
      'everybody signed in again once, and nobody for the switch',
      [clients, signInsAgain, report.signInsAgain].every((count) => count === clients),
    )
    check(`${compared} answers are the same byte for byte`, differing.length === 0)
    for (const [who, ended, difference] of [
      ['old', before, here],
      ['ours', after, there],
    ] as const) {
      const found = ended.map(({ differences }) => JSON.stringify(differences))
      log(`      answers from ${who}: ${ended.map(({ counts }) => JSON.stringify(counts)).join(' ')}`)
      check(
        `answers from ${who}: each gateway reports the planted difference and nothing else: ${found.join(' ')}`,
        found.every((text) => text === JSON.stringify([difference])),
      )
    }
    const ended = [...before, ...after]
    check(
      'gateways end when they are told to',
      ended.every((node) => node.exitCode === 0),
    )
    check(
      'no email is in a log',
      ended.every((node) => !node.stderr.includes('@example.com')),
    )
    const [expected, counted] = [counter.calls(), await callsInLedger(database)]
    log(`      ledger: ${JSON.stringify(counted)}`)
    check('the ledger has each call once', JSON.stringify(counted) === JSON.stringify(expected))
    log(`      calls: ${JSON.stringify(expected)}`)
    const shadowComparisons = ended.reduce((sum, { counts }) => sum + (counts?.equal ?? 0), 0)
    return { wrong, requests: report.requests, comparedAnswers: compared, shadowComparisons }
  } finally {
    await people.stop()
    await following.stop()
  }
}
/** Kills the import when about half of the users have signed in, and the old server a moment earlier. */
async function importKilled(old: PlainServer, args: readonly string[], users: number): Promise<void> {
  const { promise: isHalfway, resolve } = Promise.withResolvers<void>()
  let logins = 0
  old.setIntercept((request) => {
    if (request.url?.endsWith('/login')) logins += 1
    if (logins >= users / 2) resolve()
    return false
  })
  const running = startRun(['import', old.url, ...args])
  await isHalfway
  old.setIntercept(null)
  await old.kill({ forgetsSessions: true })
  await running.kill()
  await old.restart()
}

/** Kills the old server once more while somebody reads, and restarts it. */
function restartAfter(old: PlainServer, requests: number): void {
  let count = 0
  old.setIntercept(() => {
    count += 1
    if (count !== requests) return false
    old.setIntercept(null)
    old.kill({ forgetsSessions: true }).then(() => setTimeout(() => old.restart(), 500))
    return true
  })
}

/** Resolves with the first round that began after now and brought nothing. */
function inStep(following: Following) {
  const since = Date.now()
  return following.until(({ at, changed, failed, outage, seconds }) => {
    const began = Date.parse(at) - seconds * 1_000
    return began > since && changed === 0 && failed === 0 && outage === null
  })
}

/** Compares every read of every user byte for byte. */
async function compareAll(old: PlainServer, url: string) {
  using client = createClient(url)
  const differing: string[] = []
  let compared = 0
  for (const [index, email] of [...old.workspaces.keys()].entries()) {
    const { accessToken } = JSON.parse((await client.login(email)).text)
    const refs = (old.workspaces.get(email)?.projects ?? []).map(refOf)
    for (const path of [...LISTS, ...refs.map((ref) => `/exports?r=${encodeURIComponent(ref)}`)]) {
      const { status, text } = await client.get(path, accessToken)
      const expected = old.expected(email, path)
      compared += 1
      const isSame = expected === null ? status === 404 : status === 200 && text === expected
      if (!isSame)
        differing.push(
          `user ${index}: GET ${path} answered ${status}, ${text.length} of ${expected?.length} characters`,
        )
    }
  }
  return { compared, differing }
}
