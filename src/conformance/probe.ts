// What the checks share: requests, sessions of their own, and answers that several of them look at.

import { setTimeout as delay } from 'node:timers/promises'
import type { RecordFields } from '../import-export/format/read-record.ts'
import { createRefReader } from '../import-export/remote/project-ref.ts'
import { jsonOf, memberOf } from './answer-body.ts'
import { StoppedError } from './cannot-tell.ts'
import { createExchange, type Exchange, type ProbeAnswer, type ProbeRequest } from './exchange.ts'
import { findExport } from './find-export.ts'
import { createOwnSession, type OwnSession } from './own-session.ts'
import { createPatientSend } from './patience.ts'
import { signOut } from './sign-out.ts'

/** From when a run is told to stop: for the answer to a login that is under way, and for signing out. */
const FAREWELL_MS = 5_000

export interface ProbeOptions {
  /** Whose sessions are made. */
  readonly email: string
  /** Sent along with every request, unless the request has them itself. */
  readonly headers: Readonly<Record<string, string>>
  /** What members an id, and a project's reference, are in. */
  readonly fields: RecordFields
  /** Aborted, nothing is asked any more but to sign out, and that for a moment. */
  readonly stop: AbortSignal
}

/**
 * Only opens and ends sessions, and reads. Whatever it asks throws `NoAnswerError`, `BusyError` for a server that stays busy, or
 * `StoppedError`.
 */
export interface Probe extends OwnSession, AsyncDisposable {
  readonly email: string
  /** What members an id, and a project's reference, are in. */
  readonly fields: RecordFields
  readonly send: (request: ProbeRequest) => Promise<ProbeAnswer>
  /** A GET as the user: once for each path. Throws `CannotTellError`. */
  readonly read: (path: string) => Promise<ProbeAnswer>
  /** The path of an export that is there. Throws `CannotTellError`. */
  readonly exportPath: () => Promise<string>
  /** All answers so far with a status of 400 or more. */
  readonly failures: () => readonly FailureSeen[]
  /** Ends what was opened: once, at the end. Answers how many sessions stay open. */
  readonly signOut: () => Promise<number>
}

export interface FailureSeen {
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly answer: ProbeAnswer
}

export function createProbe(baseUrl: string, { email, headers, fields, stop }: ProbeOptions): Probe {
  const exchange: Exchange = createExchange(baseUrl)
  const readRef = createRefReader(fields)
  const failures: FailureSeen[] = []
  const reads = new Map<string, Promise<ProbeAnswer>>()
  /** Refresh tokens. */
  const opened = new Set<string>()
  /** Sessions that came without a refresh token: there is no way to end them. */
  let withoutRefreshToken = 0

  const stopLate = new AbortController()
  stop.addEventListener('abort', () => setTimeout(() => stopLate.abort(), FAREWELL_MS).unref())

  function sendNow(request: ProbeRequest, signal: AbortSignal = stopLate.signal): Promise<ProbeAnswer> {
    return exchange.send({ ...request, headers: { ...headers, ...request.headers } }, signal)
  }

  /** Between two attempts. */
  async function pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: stop }).catch(throwStopped)
  }

  const send = createPatientSend(async (request) => {
    if (stop.aborted) throwStopped()
    // What opens a session is waited for, so that it can be ended.
    const answer = await sendNow(request, request.path === '/login' ? stopLate.signal : stop)
    noteSessions(request, answer)
    if (answer.status >= 400) {
      failures.push({ method: request.method, path: request.path.split('?')[0] ?? '', answer })
    }
    return answer
  }, pause)

  function noteSessions({ path, body }: ProbeRequest, answer: ProbeAnswer): void {
    const refreshToken = memberOf(jsonOf(answer), 'refreshToken')
    if (typeof refreshToken === 'string') opened.add(refreshToken)
    else if (path === '/login' && typeof memberOf(jsonOf(answer), 'accessToken') === 'string') withoutRefreshToken += 1
    if (path === '/logout' && answer.status < 300) opened.delete(String(memberOf(body, 'refreshToken')))
  }

  const ownSession = createOwnSession(send, email)
  const exportPath = once(() => findExport(read, readRef))
  // With a patience of its own: what the checks have used up must not keep sessions open.
  const signOutOnce = once(async () => withoutRefreshToken + (await signOut(createPatientSend(sendNow, pause), opened)))

  function read(path: string): Promise<ProbeAnswer> {
    const known = reads.get(path) ?? ownSession.sendAsUser({ method: 'GET', path })
    reads.set(path, known)
    return known
  }

  return {
    ...ownSession,
    email,
    fields,
    send,
    read,
    exportPath,
    failures: () => failures,
    signOut: signOutOnce,
    async [Symbol.asyncDispose]() {
      await signOutOnce()
      exchange[Symbol.dispose]()
    },
  }
}

function throwStopped(): never {
  throw new StoppedError('the run was told to stop')
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make()
    return made
  }
}
