// The whole way from an old server to this one, as an operator goes it: conformance, import, follow, switch. Programs are
// real processes; the old server is killed on the way, and so is the import.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { memberText } from '../../src/json-text.ts'
import { createClient } from '../support/client.ts'
import { run, serve } from '../support/command-line.ts'
import { startFollowProcess } from '../support/follow.ts'
import { startImport } from '../support/import-process.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import { type PlainWorkspace, plainWorkspaces } from '../support/plain-workspaces.ts'
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts'
import { startSwitchFront } from '../support/switch-front.ts'

export interface AfternoonOptions {
  /** An empty folder. */
  readonly directory: string
  /** Import records of somebody real: every user has what one of theirs has. */
  readonly sample: string
  readonly users: number
  /** Of one export that one of them has. */
  readonly exportBytes: number
  /** Changes on the old server while it is followed. */
  readonly writes: number
  /** People who read meanwhile, before and after the switch. */
  readonly clients: number
  readonly seed: number
  readonly log: (line: string) => void
}

export interface Afternoon {
  /** Whatever was otherwise than it must be; empty when all is well. */
  readonly wrong: readonly string[]
  readonly requests: number
  readonly signInsAgain: number
  readonly comparedAnswers: number
}

const LISTS = ['/projects', '/templates', '/ui-libraries']
const NOTHING: PlainWorkspace = { projects: [], templates: [], uiLibraries: [], exports: new Map() }
const LARGE = 'large'
/** Between two reads of a person: the machine is that of the servers, too. */
const PAUSE_MS = 50
const SERVE_OPTIONS = ['--attempts-per-minute', '0', '--no-demo', '--log-level', 'error']

export async function moveInAnAfternoon(options: AfternoonOptions): Promise<Afternoon> {
  const { directory, users, log } = options
  const random = createSeededRandom(options.seed)
  const wrong: string[] = []
  await using old = await startPlainServer({ records: '', basePath: '/v1' })
  addUsers(old, options)
  const emails = [...old.workspaces.keys()]
  const [first = ''] = emails
  const file = join(directory, 'users.txt')
  writeFileSync(file, emails.map((email) => `${email}\n`).join(''))
  const database = `file:${join(directory, 'new.db')}`
  const check = (what: string, isSo: boolean): void => {
    log(`${isSo ? 'ok  ' : 'FAIL'}  ${what}`)
    if (!isSo) wrong.push(what)
  }

  const conformance = await run(['conformance', old.url, '--email', first])
  check(`conformance: ${conformance.stdout.trim().split('\n').at(-1)}`, conformance.exitCode === 0)

  await importKilled(old, ['--emails', file, '--database', database], users)
  log('      the import was killed, and so was the old server')
  restartAfter(old, users)
  const imported = await run(['import', old.url, '--emails', file, '--database', database, '--verify'])
  log(`      ${(imported.stdout + imported.stderr).trim().replaceAll('\n', '\n      ')}`)
  check('import goes on, and both sides are the same', imported.exitCode === 0)

  const ours = await serve(['--database', database, ...SERVE_OPTIONS])
  const following = startFollowProcess(old.url, ['--emails', file, '--database', database])
  try {
    await using front = await startSwitchFront(old.url)
    const people = startPeople(old, front.url, options, random)
    const round = await following.next()
    log(`      first round of follow: ${JSON.stringify(round)}`)
    await writeMeanwhile(old, options, random)
    const lastWrite = Date.now()
    const last = await following.until(({ at, changed, failed, outage, seconds }) => {
      const began = Date.parse(at) - seconds * 1_000
      return began > lastWrite && changed === 0 && failed === 0 && outage === null
    })
    log(`      in step: ${JSON.stringify(last)}`)
    front.switchTo(ours.url)
    await people.readOn(options.clients * 20)
    const { failed, ...report } = await people.stop()
    for (const line of failed.slice(0, 10)) log(`      ${line}`)
    check(
      `people: ${report.requests} requests, ${report.signInsAgain} signed in again, ${failed.length} failed`,
      failed.length === 0,
    )
    const { exitCode, stderr } = await following.stop()
    check('follow ends when it is told to, and has nothing to complain of', exitCode === 0 && stderr === '')
    const { compared, differing } = await compareAll(old, ours.url)
    for (const line of differing.slice(0, 10)) log(`      ${line}`)
    check(`${compared} answers are the same byte for byte`, differing.length === 0)
    return { wrong, ...report, comparedAnswers: compared }
  } finally {
    await following.stop()
    await ours.kill('SIGTERM')
  }
}

/** The users of the sample, again and again under other names; the first has the large export too. */
function addUsers(old: PlainServer, { sample, users, exportBytes }: AfternoonOptions): void {
  const models = [...plainWorkspaces(sample).values()]
  for (let index = 0; index < users; index += 1) {
    const { projects, templates, uiLibraries, exports } = models[index % models.length] ?? NOTHING
    old.workspaces.set(`user-${index}@example.com`, {
      projects: [...projects],
      templates: [...templates],
      uiLibraries: [...uiLibraries],
      exports: new Map(exports),
    })
  }
  const element = `{"path":"large.html","n":1.0,"text":"${'x\\u00e9é'.repeat(12_500)}"}`
  const elements = Array.from({ length: Math.ceil(exportBytes / Buffer.byteLength(element)) }, () => element)
  const first = old.workspaces.get('user-0@example.com')
  first?.projects.push(`{"id":"${LARGE}","ref":"${LARGE}"}`)
  first?.exports.set(LARGE, { createdAt: '2026-01-01T00:00:00Z', elements })
}

/** Killed when about half of the users have signed in, the old server a moment before. */
async function importKilled(old: PlainServer, args: readonly string[], users: number): Promise<void> {
  const { promise: isHalfway, resolve } = Promise.withResolvers<void>()
  let logins = 0
  old.setIntercept((request) => {
    if (request.url?.endsWith('/login')) logins += 1
    if (logins >= users / 2) resolve()
    return false
  })
  const running = startImport(old.url, args)
  await isHalfway
  old.setIntercept(null)
  await old.kill({ forgetsSessions: true })
  await running.kill()
  await old.restart()
}

/** Once more, while somebody reads. */
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

/** What people of the old server do to their workspaces, a change after the other. */
async function writeMeanwhile(old: PlainServer, { writes }: AfternoonOptions, random: SeededRandom): Promise<void> {
  const workspaces = [...old.workspaces.values()]
  for (let write = 1; write <= writes; write += 1) {
    const workspace = workspaces[random.below(workspaces.length)]
    const kind = random.below(4)
    const ref = `new-${write}`
    if (kind === 0) workspace?.templates.push(`{"id":"${ref}","n":${write}.0}`)
    if (kind === 1) workspace?.projects.unshift(`{"id":"${ref}","ref":"${ref}"}`)
    if (kind === 2) workspace?.projects.reverse()
    const known = [...(workspace?.exports.keys() ?? [])].find((name) => name !== LARGE) ?? ref
    if (kind === 3)
      workspace?.exports.set(known, { createdAt: '2026-01-01T00:00:00Z', elements: [`{"write":${write}.0}`] })
    // Others have their turn.
    await delay(5)
  }
}

/** Readers with keep-alive connections who do what the contract says: renew on 401, sign in where that is refused. */
function startPeople(old: PlainServer, url: string, { clients }: AfternoonOptions, random: SeededRandom) {
  const emails = [...old.workspaces.keys()]
  const failed: string[] = []
  let [requests, signInsAgain, isOver] = [0, 0, false]

  async function person(): Promise<void> {
    using client = createClient(url)
    const email = emails[random.below(emails.length)] ?? ''
    let tokens = JSON.parse((await client.login(email)).text)
    while (!isOver) {
      const path = LISTS[random.below(LISTS.length)] ?? ''
      let answer = await client.get(path, tokens.accessToken)
      requests += 1
      if (answer.status === 401) {
        const renewed = await client.refresh(tokens.refreshToken)
        tokens = { ...tokens, ...JSON.parse(renewed.text) }
        if (renewed.status === 401) {
          signInsAgain += 1
          tokens = JSON.parse((await client.login(email)).text)
        }
        answer = await client.get(path, tokens.accessToken)
      }
      if (answer.status !== 200) failed.push(`GET ${path} of a user answered ${answer.status}`)
      else if (!Array.isArray(JSON.parse(answer.text))) failed.push(`GET ${path} answered no array`)
      await delay(PAUSE_MS)
    }
  }

  const people = Promise.all(
    Array.from({ length: clients }, () =>
      person().catch((error: unknown) => {
        failed.push(String(error))
      }),
    ),
  )
  return {
    async readOn(more: number): Promise<void> {
      const until = requests + more
      while (requests < until && failed.length === 0) await delay(20)
    },
    async stop() {
      isOver = true
      await people
      return { failed, requests, signInsAgain }
    },
  }
}

/** Every read of every user, as it is sent. */
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

/** As the gateway finds it by default. */
function refOf(project: string): string {
  for (const name of ['ref', 'reference', 'id', 'uuid', 'slug']) {
    const text = memberText(project, name)
    if (text !== null && /^["\d-]/.test(text)) return String(JSON.parse(text))
  }
  return ''
}
