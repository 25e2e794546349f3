// Requests to another server that may be busy, away or broken for a while: asked again until it answers.
import { constants } from 'node:buffer'
import { setTimeout as delay } from 'node:timers/promises'
import { noAnswerInWords } from '../../errors.ts'
import { redact, toLine } from '../../redact.ts'
import { createSilenceLimit, readWhole } from './answer-limits.ts'
import { kindOfStatus, pauseMs, type RetryFields, retryAfterMs } from './retry.ts'

/** Until an answer begins, and for each further 64 KiB: a large export may take its time, and none may take forever. */
const SILENCE_MS = 60_000
/** Of a body: a string holds no more. */
const MAX_ANSWER_BYTES = constants.MAX_STRING_LENGTH
/** For what is still asked, or answered, when all is told to stop; and for each answer to a sign-out. */
const FAREWELL_MS = 2_000
/** Of one sign-out, when all is told to stop. */
const MAX_FAREWELLS = 2
/** For all sign-outs together, when all is told to stop: a supervisor does not wait for minutes. */
const FAREWELLS_MS = 30_000
/** Sign-outs in a row without an answer, when all is told to stop, after which no more are sent. */
const MAX_UNANSWERED_FAREWELLS = 4
/** Of one request that the server answers with 500. */
const MAX_BROKEN_ATTEMPTS = 4

/** The other server did not answer as the contract says; the message names the call, never a token, and is a line whatever was answered. */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  constructor(message: string) {
    super(toLine(redact(message)))
  }
}

/** The other server cannot be reached, or is busy for longer than one waits. */
export class OutageError extends ContractError {}

export interface RemoteRequest {
  readonly method: string
  /** Behind the server's address. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** What it opens must be closed: once it is sent, its answer is waited for a moment, even when stopped. */
  readonly opensSession?: boolean
}

export interface RemoteAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/** It did not come, or broke off. */
interface NoAnswer {
  readonly status: null
  /** In words. */
  readonly reason: string
  /** It would be the next time, too. */
  readonly isTooLarge: boolean
}

const TOO_LARGE: NoAnswer = { status: null, reason: 'the answer is larger than 512 MiB', isTooLarge: true }

export interface RemoteClientOptions {
  /** Sent along with every request, unless the request has them itself. */
  readonly headers: Readonly<Record<string, string>>
  /** How long the server may be away or busy. One that never answered is not waited for. */
  readonly maxOutageMs: number
  /** Ends whatever is waited for. */
  readonly stop: AbortSignal
}

export interface RemoteClient {
  /** Throws `OutageError`, or the reason of `stop`. What it answers is whole. */
  readonly send: (request: RemoteRequest) => Promise<RemoteAnswer>
  /**
   * Sends a sign-out, even when stopped. A server that is busy or stumbles is asked again as by `send`, once when stopped; one that is
   * away is not, and is left alone altogether once stopped. What fails is counted, and nothing else.
   */
  readonly endSession: (request: RemoteRequest) => Promise<void>
  /** Where the server is, for messages. */
  readonly address: string
  /** Since the start. */
  readonly traffic: () => Traffic
}

export interface Traffic {
  readonly requests: number
  /** Answers that said that nothing has changed. */
  readonly notModified: number
  /** Of the bodies that were answered, decoded. */
  readonly bytes: number
  /** Sessions that could not be ended: they are left to run out. */
  readonly sessionsLeft: number
}

/** `address` has no slash at its end. */
export function createRemoteClient(address: string, { headers, maxOutageMs, stop }: RemoteClientOptions): RemoteClient {
  const traffic = { requests: 0, notModified: 0, bytes: 0, sessionsLeft: 0 }
  /** Also where no answer was whole: a server is there. */
  let hasAnswered = false
  /** A server that is busy is so for every user. Of `performance.now()`: the clock may be set meanwhile. */
  let notBefore = 0
  const stopLate = new AbortController()
  let unansweredFarewells = 0
  let isOver = false
  function onStop(): void {
    setTimeout(() => stopLate.abort(), FAREWELL_MS).unref()
    setTimeout(() => {
      isOver = true
    }, FAREWELLS_MS).unref()
  }
  stop.addEventListener('abort', onStop, { once: true })

  async function once(
    { method, path, headers: own, body }: RemoteRequest,
    silenceMs: number,
    ...stops: readonly AbortSignal[]
  ): Promise<RemoteAnswer | NoAnswer> {
    using silence = createSilenceLimit(silenceMs, stops)
    traffic.requests += 1
    const init: RequestInit = {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}), ...own },
      redirect: 'manual',
      signal: silence.signal,
    }
    try {
      const response = await fetch(`${address}${path}`, body ? { ...init, body: JSON.stringify(body) } : init)
      hasAnswered = true
      silence.isHeard()
      const whole = await readWhole(response.body ?? [], MAX_ANSWER_BYTES, silence, (byteLength) => {
        traffic.bytes += byteLength
      })
      if (whole === null) return TOO_LARGE
      if (response.status === 304) traffic.notModified += 1
      return { status: response.status, headers: response.headers, body: whole }
    } catch (error) {
      return { status: null, reason: noAnswerInWords(error), isTooLarge: false }
    }
  }

  async function wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: stop }).catch(() => stop.throwIfAborted())
  }

  async function send(request: RemoteRequest): Promise<RemoteAnswer> {
    const start = performance.now()
    for (let attempt = 0; ; attempt += 1) {
      stop.throwIfAborted()
      if (notBefore > performance.now()) await wait(notBefore - performance.now())
      const answer = await once(request, SILENCE_MS, request.opensSession === true ? stopLate.signal : stop)
      if (answer.status === null) stop.throwIfAborted()
      const kind = kindOf(answer)
      const isLastAttempt = kind === 'broken' ? attempt + 1 >= MAX_BROKEN_ATTEMPTS : !hasAnswered || isTooLong(start)
      if (kind === 'answer' || isLastAttempt) return requireAnswer(request, answer, kind)
      await wait(pauseAfter(answer, attempt))
    }
  }

  /** Before the next attempt. All requests wait as long as this answer asks for. */
  function pauseAfter(answer: RemoteAnswer | NoAnswer, attempt: number): number {
    const asked = answer.status === null ? null : retryAfterMs(retryFieldsOf(answer), Date.now())
    if (asked !== null) notBefore = Math.max(notBefore, performance.now() + asked)
    return pauseMs(asked, attempt)
  }

  /** Once stopped: there is no time left, or nobody who answers. */
  function isLeftAlone(): boolean {
    return isOver || unansweredFarewells >= MAX_UNANSWERED_FAREWELLS
  }

  async function endSession(request: RemoteRequest): Promise<void> {
    const start = performance.now()
    let farewells = 0
    for (let attempt = 0; ; attempt += 1) {
      if (!isLeftAlone() && notBefore > performance.now()) await rest(notBefore - performance.now())
      if (isLeftAlone()) break
      if (stop.aborted) farewells += 1
      const answer = await once(request, FAREWELL_MS)
      unansweredFarewells = stop.aborted && answer.status === null ? unansweredFarewells + 1 : 0
      if (isEnded(answer)) return
      const kind = answer.status === null ? 'answer' : kindOfStatus(answer.status)
      const isTold = kind === 'answer' || (kind === 'broken' && attempt + 1 >= MAX_BROKEN_ATTEMPTS)
      if (isTold || farewells >= MAX_FAREWELLS || (farewells === 0 && isTooLong(start))) break
      await rest(pauseAfter(answer, attempt))
    }
    traffic.sessionsLeft += 1
  }

  /** As `wait` between sign-outs: `stop` ends it, and is no failure. Once stopped, a moment at most. */
  async function rest(ms: number): Promise<void> {
    if (stop.aborted) await delay(Math.min(ms, FAREWELL_MS))
    else await delay(ms, undefined, { signal: stop }).catch(() => {})
  }

  function isTooLong(start: number): boolean {
    return performance.now() - start >= maxOutageMs
  }

  function requireAnswer({ method, path }: RemoteRequest, answer: RemoteAnswer | NoAnswer, kind: string): RemoteAnswer {
    // The query names a project.
    const name = `${method} ${address}${path.split('?')[0]}`
    if (answer.status === null) throw new (answer.isTooLarge ? ContractError : OutageError)(`${name}: ${answer.reason}`)
    if (kind === 'busy') throw new OutageError(`${name} answered ${answer.status}`)
    return answer
  }

  return {
    send,
    endSession,
    address,
    traffic: () => ({ ...traffic }),
  }
}

function kindOf(answer: RemoteAnswer | NoAnswer): ReturnType<typeof kindOfStatus> | 'away' {
  if (answer.status !== null) return kindOfStatus(answer.status)
  return answer.isTooLarge ? 'answer' : 'away'
}

function retryFieldsOf({ headers }: RemoteAnswer): RetryFields {
  return { retryAfter: headers.get('retry-after'), date: headers.get('date') }
}

/** 401: it was not there any more. */
function isEnded({ status }: RemoteAnswer | NoAnswer): boolean {
  return status !== null && ((status >= 200 && status < 300) || status === 401)
}
