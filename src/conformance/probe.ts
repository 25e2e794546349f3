// The state that the checks share: requests, the sessions of the run, and answers that several checks inspect.
import { setTimeout as delay } from 'node:timers/promises'
import type { RecordFields } from '../import-export/format/read-record.ts'
import { createLateStop } from '../import-export/remote/answer-limits.ts'
import { createRefReader } from '../import-export/remote/project-ref.ts'
import { memberOf } from '../member-of.ts'
import { jsonOf } from './answer-body.ts'
import { StoppedError } from './cannot-tell.ts'
import { createExchange, type Exchange, type ProbeAnswer, type ProbeRequest } from './exchange.ts'
import { findExport } from './find-export.ts'
import { createOwnSession, type OwnSession } from './own-session.ts'
import { createPatientSend } from './patience.ts'
import { signOut } from './sign-out.ts'

/** Time after a stop for the answer to a login in flight, and for signing out. */
const FAREWELL_MS = 5_000
/** Bytes of an error answer that are kept until the end of the run, which has many of them. */
const MAX_KEPT_ERROR_BYTES = 262_144

export interface ProbeOptions {
  /** Email of the user whose sessions are opened. */
  readonly email: string
  /** Headers for every request, unless the request sets them itself. */
  readonly headers: Readonly<Record<string, string>>
  /** Names of the members that hold a document id and a project reference. */
  readonly fields: RecordFields
  /** When it is aborted, the run sends no more requests, except to sign out, and that only for a moment. */
  readonly stop: AbortSignal
}

/**
 * Only reads, and opens and ends sessions. Every request may throw `NoAnswerError`, `BusyError` for a server that stays
 * busy, and `StoppedError`.
 */
export interface Probe extends OwnSession, AsyncDisposable {
  readonly email: string
  /** Names of the members that hold a document id and a project reference. */
  readonly fields: RecordFields
  readonly send: (request: ProbeRequest) => Promise<ProbeAnswer>
  /** A GET as the user, sent only once per path. Of a long error, only the beginning is kept. Throws `CannotTellError`. */
  readonly read: (path: string) => Promise<ProbeAnswer>
  /** The path of an existing export. Throws `CannotTellError`. */
  readonly exportPath: () => Promise<string>
  /** All answers so far with a status of 400 or more. Of a long body, only the beginning is kept. */
  readonly failures: () => readonly FailureSeen[]
  /** Ends all sessions that were opened, once, at the end. Returns how many sessions stay open. */
  readonly signOut: () => Promise<number>
}

export interface FailureSeen {
  readonly method: string
  /** Path without the query. */
  readonly path: string
  readonly answer: ProbeAnswer
}

export function createProbe(baseUrl: string, { email, headers, fields, stop }: ProbeOptions): Probe {
  const exchange: Exchange = createExchange(baseUrl)
  const readRef = createRefReader(fields)
  const failures: FailureSeen[] = []
  const reads = new Map<string, Promise<ProbeAnswer>>()
  /** Refresh tokens of open sessions. */
  const opened = new Set<string>()
  /** Number of sessions without a refresh token, which cannot be ended. */
  let withoutRefreshToken = 0

  const stopLate = createLateStop(stop, FAREWELL_MS)

  function sendNow(request: ProbeRequest, signal: AbortSignal = stopLate): Promise<ProbeAnswer> {
    return exchange.send({ ...request, headers: { ...headers, ...request.headers } }, signal)
  }

  /** Waits between two attempts. */
  async function pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: stop }).catch(throwStopped)
  }

  const send = createPatientSend(async (request) => {
    if (stop.aborted) throwStopped()
    // A login is awaited even after a stop, so that its session can be ended.
    const answer = await sendNow(request, request.path === '/login' ? stopLate : stop)
    noteSessions(request, answer)
    if (answer.status >= 400) {
      failures.push({ method: request.method, path: request.path.split('?')[0] ?? '', answer: toKept(answer) })
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
  // Sign-out has its own patience, so that sessions do not stay open because the checks have used theirs up.
  const signOutOnce = once(async () => withoutRefreshToken + (await signOut(createPatientSend(sendNow, pause), opened)))

  function read(path: string): Promise<ProbeAnswer> {
    const known = reads.get(path) ?? ownSession.sendAsUser({ method: 'GET', path }).then(toKept)
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

function toKept(answer: ProbeAnswer): ProbeAnswer {
  if (answer.status < 400 || answer.body.byteLength <= MAX_KEPT_ERROR_BYTES) return answer
  // A copy, because a part of the buffer would keep all of it.
  return { ...answer, body: Buffer.from(answer.body.subarray(0, MAX_KEPT_ERROR_BYTES)) }
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
