// What the checks share: requests, sessions of their own, and answers that several of them look at.

import type { RecordFields } from '../import-export/format/read-record.ts'
import { createRefReader } from '../import-export/remote/project-ref.ts'
import { elementTexts } from '../json-text.ts'
import { jsonOf, memberOf, unlessArray } from './answer-body.ts'
import { CannotTellError } from './cannot-tell.ts'
import { createExchange, type Exchange, type ProbeAnswer, type ProbeRequest } from './exchange.ts'
import { createPatientSend } from './patience.ts'
import { signOut } from './sign-out.ts'

/** Projects that are asked for an export until one has one. */
const MAX_TRIED_PROJECTS = 25

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

export interface ProbeOptions {
  /** Whose sessions are made. */
  readonly email: string
  /** Sent along with every request, unless the request has them itself. */
  readonly headers: Readonly<Record<string, string>>
  /** What members a project's reference is in. */
  readonly fields: RecordFields
}

/** Only opens and ends sessions, and reads. Whatever it asks throws `NoAnswerError`, or `BusyError` for a server that stays busy. */
export interface Probe extends AsyncDisposable {
  readonly email: string
  readonly send: (request: ProbeRequest) => Promise<ProbeAnswer>
  /** The first login: once for all checks. */
  readonly login: () => Promise<ProbeAnswer>
  /** Its tokens. Throws `CannotTellError`. */
  readonly session: () => Promise<Tokens>
  /** Of another login. Throws `CannotTellError`. */
  readonly newSession: () => Promise<Tokens>
  /** A GET with the access token of the first login, or a fresh one: once for each path. Throws `CannotTellError`. */
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

export function createProbe(baseUrl: string, { email, headers, fields }: ProbeOptions): Probe {
  const exchange: Exchange = createExchange(baseUrl)
  const readRef = createRefReader(fields)
  const failures: FailureSeen[] = []
  const reads = new Map<string, Promise<ProbeAnswer>>()
  /** Refresh tokens. */
  const opened = new Set<string>()

  function sendNow(request: ProbeRequest): Promise<ProbeAnswer> {
    return exchange.send({ ...request, headers: { ...headers, ...request.headers } })
  }

  const send = createPatientSend(async (request) => {
    const answer = await sendNow(request)
    noteSessions(request, answer)
    if (answer.status >= 400) {
      failures.push({ method: request.method, path: request.path.split('?')[0] ?? '', answer })
    }
    return answer
  })

  function noteSessions({ path, body }: ProbeRequest, answer: ProbeAnswer): void {
    const refreshToken = memberOf(jsonOf(answer), 'refreshToken')
    if (typeof refreshToken === 'string') opened.add(refreshToken)
    if (path === '/logout' && answer.status < 300) opened.delete(String(memberOf(body, 'refreshToken')))
  }

  const signIn = () => send({ method: 'POST', path: '/login', body: { email } })
  const login = once(signIn)
  const session = once(async () => tokensOf(await login()))
  const exportPath = once(findExport)
  // With a patience of its own: what the checks have used up must not keep sessions open.
  const signOutOnce = once(() => signOut(createPatientSend(sendNow), opened))

  async function findExport(): Promise<string> {
    const projects = await read('/projects')
    const texts = unlessArray(projects) === null ? (elementTexts(projects.body.toString()) ?? []) : []
    for (const text of texts.slice(0, MAX_TRIED_PROJECTS)) {
      const ref = readRef(text)
      const path = `/exports?r=${encodeURIComponent(ref ?? '')}`
      if (ref !== null && (await read(path)).status === 200) return path
    }
    throw new CannotTellError('no project of this user has an export')
  }

  function read(path: string): Promise<ProbeAnswer> {
    const known = reads.get(path) ?? readNow(path)
    reads.set(path, known)
    return known
  }

  async function readNow(path: string): Promise<ProbeAnswer> {
    const { accessToken } = await session()
    return send({ method: 'GET', path, headers: { authorization: `Bearer ${accessToken}` } })
  }

  return {
    email,
    send,
    login,
    session,
    read,
    exportPath,
    newSession: async () => tokensOf(await signIn()),
    failures: () => failures,
    signOut: signOutOnce,
    async [Symbol.asyncDispose]() {
      await signOutOnce()
      exchange[Symbol.dispose]()
    },
  }
}

function tokensOf(answer: ProbeAnswer): Tokens {
  const body = jsonOf(answer)
  const [accessToken, refreshToken] = [memberOf(body, 'accessToken'), memberOf(body, 'refreshToken')]
  if (typeof accessToken !== 'string') throw new CannotTellError(`no session: POST /login answered ${answer.status}`)
  return { accessToken, refreshToken: typeof refreshToken === 'string' ? refreshToken : '' }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make()
    return made
  }
}
