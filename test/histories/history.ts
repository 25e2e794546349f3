// Plays one random history of one user, and checks what must hold for every answer in it.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Change, Store } from '../../src/store/contract.ts'
import type { Answer, HistoryClient } from './client.ts'

/** By design, an acknowledged logout holds on every node after this time. */
const LOGOUT_BOUND_MS = 1_000
/** A client that is answered 503 comes back after this time. */
const PAUSE_MS = 50
/** A gateway must answer again within this time, whatever happened to it or to its database. */
const RECOVERY_MS = 30_000
/** The ways to read the one project of a user and its newest export; each answer contains a version. */
const READS = [
  { path: '/projects' },
  { path: '/exports?r=p' },
  { path: '/graphql', body: { query: '{ me { projects { data latestExport { data } } } }' } },
] as const

export interface World {
  readonly client: HistoryClient
  /** Imports go here, from another process than the gateways, into the same database. */
  readonly store: Store
  readonly random: () => number
  readonly tally: Tally
}

/** What happened in all histories together. */
export interface Tally {
  histories: number
  operations: number
  /** Requests that were answered 408 or 503, or not at all. */
  unavailable: number
  acknowledgedLogins: number
  acknowledgedLogouts: number
  acknowledgedImports: number
  /** Successes after an acknowledged logout, but within the bound. */
  lateSuccesses: number
  /** The longest time between one success and the next, of any history. */
  longestOutageMs: number
  lastSuccessAt: number
  readonly violations: string[]
}

interface Session {
  accessToken: string
  readonly refreshToken: string
  logoutsTried: number
  /** When a logout was acknowledged. */
  loggedOutAt: number | null
  /** When the session was first refused. */
  refusedAt: number | null
}

/** A history that was played; it is audited when everything is over. */
export interface PlayedHistory {
  /** Reads everything once more: what was acknowledged, and what was read, must still hold. */
  readonly audit: () => Promise<void>
}

export async function playHistory(world: World, email: string, steps: number): Promise<PlayedHistory> {
  const { random, tally, store, client } = world
  const sessions: Session[] = []
  /**
   * `known` is the newest version that was acknowledged or read, both of which are durable; `tried` the newest one that
   * was written.
   */
  let known = 0
  let tried = 0
  let importing = Promise.resolve()

  function violation(what: string): void {
    tally.violations.push(`${email}: ${what}`)
  }

  function succeeded(): void {
    const now = performance.now()
    tally.longestOutageMs = Math.max(tally.longestOutageMs, now - tally.lastSuccessAt)
    tally.lastSuccessAt = now
  }

  async function ask(method: string, path: string, accessToken: string | null, body?: object): Promise<Answer> {
    tally.operations += 1
    const answer = await client.send(method, path, accessToken, body)
    if (answer.status === -1) violation(`no answer to ${method} ${path}`)
    if (isUnavailable(answer)) {
      tally.unavailable += 1
      await delay(PAUSE_MS)
    } else succeeded()
    return answer
  }

  /** Imports one version after another, as one importer would, so that versions grow. */
  function importNext(): Promise<void> {
    importing = importing.then(async () => {
      tried += 1
      const version = tried
      tally.operations += 1
      try {
        await store.applyChanges(versionOf(email, version))
        known = Math.max(known, version)
        tally.acknowledgedImports += 1
      } catch {
        tally.unavailable += 1
        await delay(PAUSE_MS)
      }
    })
    return importing
  }

  async function login(): Promise<void> {
    const answer = await ask('POST', '/login', null, { email })
    if (answer.status === 200) {
      const { accessToken, refreshToken } = JSON.parse(answer.text)
      sessions.push({ accessToken, refreshToken, logoutsTried: 0, loggedOutAt: null, refusedAt: null })
      tally.acknowledgedLogins += 1
    } else if (!isUnavailable(answer)) violation(`login answered ${answer.status}`)
  }

  /**
   * Returns the answer if the session was accepted. Checks that this fits what was known of the session before the
   * request.
   */
  async function askFor(session: Session, send: () => Promise<Answer>): Promise<Answer | null> {
    const [startedAt, { loggedOutAt, refusedAt }] = [performance.now(), { ...session }]
    const answer = await send()
    if (answer.status !== 200 && isUnavailable(answer)) return null
    if (answer.status === 401) {
      session.refusedAt ??= performance.now()
      if (session.logoutsTried === 0) violation('a session that nobody ended is refused')
      return null
    }
    if (refusedAt !== null) violation('a session that had ended is good again')
    if (loggedOutAt !== null && startedAt - loggedOutAt > LOGOUT_BOUND_MS)
      violation(`success ${Math.round(startedAt - loggedOutAt)} ms after logout`)
    else if (loggedOutAt !== null) tally.lateSuccesses += 1
    // A partial answer shows that the session was accepted, too.
    return isUnavailable(answer) ? null : answer
  }

  async function read(session: Session, { path, body }: { path: string; body?: object }): Promise<boolean> {
    const least = known
    const method = body ? 'POST' : 'GET'
    const answer = await askFor(session, () => ask(method, path, session.accessToken, body))
    if (!answer) return session.refusedAt !== null
    const versions = versionsIn(answer)
    if (versions.length === 0) violation(`${path} answered ${answer.status}: ${answer.text}`)
    for (const version of versions) {
      if (version < least) violation(`${path} answered version ${version} after ${least}`)
      if (version > tried) violation(`${path} answered version ${version} that nobody wrote`)
      known = Math.max(known, version)
    }
    return true
  }

  async function refresh(session: Session): Promise<void> {
    const { refreshToken } = session
    const answer = await askFor(session, () => ask('POST', '/token', null, { refreshToken }))
    if (answer?.status === 200) session.accessToken = JSON.parse(answer.text).accessToken
    else if (answer) violation(`refresh answered ${answer.status}`)
  }

  async function logout(session: Session): Promise<void> {
    session.logoutsTried += 1
    const { refreshToken } = session
    const { status } = await ask('DELETE', '/logout', null, { refreshToken })
    if (status === 200) {
      if (session.loggedOutAt !== null) violation('a session ended twice')
      session.loggedOutAt = performance.now()
      tally.acknowledgedLogouts += 1
    } else if (status === 401 && session.logoutsTried === 1) violation('the only logout of a live session is refused')
  }

  function nextStep(): () => Promise<unknown> {
    const session = sessions[Math.floor(random() * sessions.length)]
    const dice = random()
    if (!session || dice < 0.1) return login
    if (dice < 0.3) return importNext
    if (dice < 0.75) return () => read(session, READS[Math.floor(random() * READS.length)] ?? READS[0])
    return dice < 0.88 ? () => refresh(session) : () => logout(session)
  }

  /** Every gateway has to answer in the end. */
  async function readUntilAnswered(session: Session): Promise<void> {
    const deadline = performance.now() + RECOVERY_MS
    for (const way of READS) {
      while (!(await read(session, way))) {
        if (performance.now() > deadline) return violation('no gateway answers any more')
      }
    }
  }

  for (let step = 0; step < steps; step += 1) {
    const parallel = random() < 0.3 ? 3 : 1
    await Promise.all(Array.from({ length: parallel }, () => nextStep()()))
  }
  tally.histories += 1
  return {
    async audit() {
      for (const session of sessions) await readUntilAnswered(session)
    },
  }
}

/** Writes the user's project and its newest export, both of this version, in one transaction. */
function versionOf(email: string, version: number): readonly Change[] {
  const stage = randomUUID()
  const element = String(version)
  const instant = new Date(Date.UTC(2026, 0, 1) + version * 1_000).toISOString()
  const digest = createHash('sha256').update(`[${element}]`).digest('hex')
  return [
    { type: 'putDocument', email, kind: 'project', id: 'p', ref: 'p', text: `{"id":"p","v":${version}}` },
    { type: 'stageExport', stage, email, ref: 'p', createdAt: instant, instant, now: Date.now() },
    { type: 'stageElements', stage, position: 1, texts: [element], now: Date.now() },
    { type: 'sealExport', stage, digest, byteLength: element.length + 2, elementCount: 1 },
  ]
}

/** Every version in the answer; 0 if nothing is stored yet, none if nobody should get this answer. */
function versionsIn({ status, text }: Answer): readonly number[] {
  if (status === 404 || text === '{"data":{"me":null}}') return [0]
  if (status !== 200) return []
  return [...text.matchAll(/(?:"v":|^\[|"latestExport":\{"data":\[)(\d+)/g)].map(([, version]) => Number(version))
}

/**
 * Also true for 408, with which a gateway that had no processor for ten seconds refuses what it read too late; and for a
 * partial answer: GraphQL answers 200 with UNAVAILABLE among the errors if it began before the database was gone.
 */
function isUnavailable({ status, text }: Answer): boolean {
  if (status !== 200) return status <= 0 || status === 408 || status === 503
  const { errors = [] } = JSON.parse(text)
  return errors.some(({ extensions }: { extensions: { code: string } }) => extensions.code === 'UNAVAILABLE')
}
