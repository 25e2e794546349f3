// One random history of one user, and what must hold of every answer in it.
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../../src/store/store.ts'

/** Design: after this, a logout that was acknowledged holds on every node. */
const LOGOUT_BOUND_MS = 1_000
/** How long an answer may take before the client gives up on it. */
const PATIENCE_MS = 15_000

export interface World {
  readonly url: string
  /** Where imports go: another process on the same database. */
  readonly store: Store
  readonly random: () => number
  readonly tally: Tally
}

/** What happened, over all histories. */
export interface Tally {
  histories: number
  operations: number
  /** Answered 503, or not at all. */
  unavailable: number
  acknowledgedWrites: number
  /** Successes after an acknowledged logout, within the bound. */
  lateSuccesses: number
  readonly violations: string[]
}

interface Session {
  readonly accessToken: string
  readonly refreshToken: string
  logoutsTried: number
  /** When one was acknowledged. */
  loggedOutAt: number | null
}

interface Answer {
  /** 0 when the connection broke or nothing came. */
  readonly status: number
  readonly text: string
}

type Step = () => Promise<void>

export async function runHistory(world: World, email: string, steps: number): Promise<void> {
  const { random, tally, store } = world
  const sessions: Session[] = []
  /** The newest version that was acknowledged, and the newest that was tried. */
  let acknowledged = 0
  let tried = 0
  let importing = Promise.resolve()

  function violation(what: string): void {
    tally.violations.push(`${email}: ${what}`)
  }

  async function ask(method: string, path: string, accessToken: string | null, body?: object): Promise<Answer> {
    tally.operations += 1
    const answer = await send(world.url, method, path, accessToken, body)
    if (answer.status === 0 || answer.status === 503) tally.unavailable += 1
    return answer
  }

  /** One after the other, as one importer would: versions grow. */
  function importNext(): Promise<void> {
    importing = importing.then(async () => {
      tried += 1
      const version = tried
      try {
        await store.applyChanges([
          { type: 'putDocument', email, kind: 'project', id: 'p', ref: 'p', text: `{"id":"p","v":${version}}` },
        ])
        acknowledged = version
        tally.acknowledgedWrites += 1
      } catch {
        tally.unavailable += 1
      }
    })
    return importing
  }

  async function login(): Promise<void> {
    const { status, text } = await ask('POST', '/login', null, { email })
    if (status === 200) {
      sessions.push({ ...JSON.parse(text), logoutsTried: 0, loggedOutAt: null })
      tally.acknowledgedWrites += 1
    } else if (!isUnavailable(status)) violation(`login answered ${status}`)
  }

  /** Whether the answer's success fits what is known of the session. */
  function checkSession(session: Session, status: number, startedAt: number, loggedOutBefore: number | null): boolean {
    if (isUnavailable(status)) return false
    if (status === 401) {
      if (session.logoutsTried === 0) violation('a session that nobody ended is refused')
      return false
    }
    if (loggedOutBefore !== null) {
      if (startedAt - loggedOutBefore > LOGOUT_BOUND_MS)
        violation(`success ${startedAt - loggedOutBefore} ms after logout`)
      else tally.lateSuccesses += 1
    }
    return true
  }

  async function read(session: Session): Promise<void> {
    const [startedAt, least, loggedOutBefore] = [performance.now(), acknowledged, session.loggedOutAt]
    const { status, text } = await ask('GET', '/projects', session.accessToken)
    if (!checkSession(session, status, startedAt, loggedOutBefore)) return
    const version = status === 404 ? 0 : Number(/"v":(\d+)/.exec(text)?.[1])
    if (!(version >= least)) violation(`read version ${version} after ${least} was acknowledged`)
    if (!(version <= tried)) violation(`read version ${version} that nobody wrote`)
  }

  async function refresh(session: Session): Promise<void> {
    const [startedAt, loggedOutBefore] = [performance.now(), session.loggedOutAt]
    const { refreshToken } = session
    const { status } = await ask('POST', '/token', null, { refreshToken })
    checkSession(session, status, startedAt, loggedOutBefore)
  }

  async function logout(session: Session): Promise<void> {
    session.logoutsTried += 1
    const { refreshToken } = session
    const { status } = await ask('DELETE', '/logout', null, { refreshToken })
    if (status === 200) {
      if (session.loggedOutAt !== null) violation('a session ended twice')
      session.loggedOutAt = performance.now()
      tally.acknowledgedWrites += 1
    } else if (status === 401 && session.logoutsTried === 1) violation('the only logout of a live session is refused')
  }

  function nextStep(): Step {
    const session = sessions[Math.floor(random() * sessions.length)]
    const dice = random()
    if (!session || dice < 0.1) return login
    if (dice < 0.3) return importNext
    if (dice < 0.75) return () => read(session)
    return dice < 0.88 ? () => refresh(session) : () => logout(session)
  }

  for (let step = 0; step < steps; step += 1) {
    const parallel = random() < 0.3 ? 3 : 1
    await Promise.all(Array.from({ length: parallel }, () => nextStep()()))
  }

  // At the end everything that was acknowledged is there, on whichever node answers.
  for (const session of sessions) {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const loggedOutBefore = session.loggedOutAt
      const { status, text } = await ask('GET', '/projects', session.accessToken)
      if (isUnavailable(status)) {
        await delay(50)
        continue
      }
      checkSession(session, status, performance.now(), loggedOutBefore)
      if (status === 200 && !(Number(/"v":(\d+)/.exec(text)?.[1]) >= acknowledged)) violation('an import was lost')
      break
    }
  }
  tally.histories += 1
}

function isUnavailable(status: number): boolean {
  return status === 0 || status === 503
}

function send(url: string, method: string, path: string, accessToken: string | null, body?: object): Promise<Answer> {
  const content = body === undefined ? '' : JSON.stringify(body)
  const headers = {
    ...(accessToken === null ? {} : { authorization: `Bearer ${accessToken}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
  }
  return new Promise((resolve) => {
    const sent = request(url + path, { method, headers, agent: false, timeout: PATIENCE_MS }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('close', () =>
        resolve({ status: response.complete ? (response.statusCode ?? 0) : 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve({ status: 0, text: '' }))
    sent.end(content)
  })
}
