// Sends requests to another server and retries while that server is busy, unreachable or failing.
import { constants } from 'node:buffer'
import { setTimeout as delay } from 'node:timers/promises'
import { noAnswerInWords } from '../../errors.ts'
import { redact, toLine } from '../../redact.ts'
import { type OutgoingRequest, sendRequest } from '../../send-request.ts'
import { isSuccess, kindOf, type NoAnswer, type RemoteAnswer, retryFieldsOf, TOO_LARGE } from './answer.ts'
import { createLateStop, createSilenceLimit, readWhole } from './answer-limits.ts'
import { isConnectionEnded, kindOfStatus, pauseMs, retryAfterMs } from './retry.ts'

/**
 * `Accept` of every request to another server. Frameworks answer who also takes other types with pages: Laravel redirects
 * an expired token to its login page.
 */
export const JSON_ONLY = 'application/json'
/** Timeout until a response begins, and for each further 64 KiB: large exports may take long, but not forever. */
const SILENCE_MS = 60_000
/** Maximum size of a response body: a string cannot hold more. */
const MAX_ANSWER_BYTES = constants.MAX_STRING_LENGTH
/** Timeout of requests and responses in flight after a stop, and of sign-outs then, or when the server ignores them. */
const SIGN_OUT_TIMEOUT_MS = 2_000
/** Maximum number of attempts of one sign-out after a stop. */
const MAX_SIGN_OUT_ATTEMPTS = 2
/** Time limit for all sign-outs together after a stop: a supervisor does not wait for minutes. */
const ALL_SIGN_OUTS_MS = 30_000
/**
 * Once this number of sign-outs in a row got no response, the next ones get less time, and after a stop no more are sent.
 */
const MAX_UNANSWERED_SIGN_OUTS = 4
/**
 * Maximum number of times that the server may answer one request with 500, or break a sign-out off. Answers of a busy
 * server between them do not count.
 */
const MAX_BROKEN_ATTEMPTS = 4
/** A request without an answer for this long is reported: nobody should wait for a server without knowing it. */
const LONG_WAIT_MS = 10_000
/**
 * The server counts as down once this many requests in a row got no answer that all began after it had been away for too
 * long. Those before may have asked for too much, such as for exports that it cannot send.
 */
const REQUESTS_OF_DOWN_SERVER = 3

/**
 * The other server did not respond as the contract says. The message is a single line, names the call and never
 * contains a token, whatever the response was.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  constructor(message: string) {
    super(toLine(redact(message)))
  }
}

/** The other server is unreachable, or busy for longer than the client waits. */
export class OutageError extends ContractError {}

export interface RemoteRequest {
  readonly method: string
  /** Path and query, appended to the server's address. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** The request opens a session, which must be closed. So even after a stop, its response is awaited for a moment. */
  readonly opensSession?: boolean
}

export interface RemoteClientOptions {
  /** Sent with every request, unless the request sets the field itself. */
  readonly headers: Readonly<Record<string, string>>
  /** How long the server may be unreachable or busy, in milliseconds. A server that has never responded is not retried. */
  readonly maxOutageMs: number
  /**
   * Whether all requests share that time: while the server has answered nothing at all for so long, each is sent only
   * once. Only for requests without pauses between them, because in a pause nobody asks the server. Default: false.
   */
  readonly isOutageShared?: boolean
  /**
   * Called before each pause with which a request or a sign-out will have waited for `LONG_WAIT_MS`. The reason is in
   * words, without the query of the request. Not called after a stop.
   */
  readonly onLongWait?: (reason: string) => void
  /** Aborts every wait. */
  readonly stop: AbortSignal
}

export interface RemoteClient {
  /** Throws `OutageError`, or the reason of `stop`. The returned response is complete. */
  readonly send: (request: RemoteRequest) => Promise<RemoteAnswer>
  /**
   * Signs a session out, even after a stop. Retries like `send` while the server is busy or failing, and when the
   * connection ends before a response, but after a stop only once. An unreachable or silent server is not retried; after
   * a stop, several requests in a row without a response end all sign-outs. A failure is counted and not thrown.
   */
  readonly endSession: (refreshToken: string) => Promise<void>
  /** Whether to leave the remaining users for another run: see `REQUESTS_OF_DOWN_SERVER`. False if not shared. */
  readonly isDown: () => boolean
  /** Address of the server, for messages. */
  readonly address: string
  /** Totals since the start. */
  readonly traffic: () => Traffic
}

export interface Traffic {
  readonly requests: number
  /** Responses with 304 Not Modified. */
  readonly notModified: number
  /** Bytes of the response bodies, after decoding. */
  readonly bytes: number
  /** Sessions that could not be ended and will expire by themselves. */
  readonly sessionsLeft: number
}

/** `address` has no trailing slash. */
export function createRemoteClient(
  address: string,
  { headers, maxOutageMs, isOutageShared = false, onLongWait, stop }: RemoteClientOptions,
): RemoteClient {
  const traffic = { requests: 0, notModified: 0, bytes: 0, sessionsLeft: 0 }
  /** True even when no response was complete: a server is there. */
  let hasAnswered = false
  /** A busy server is busy for all users. Measured by `performance.now()`, because the system clock may be set. */
  let notBefore = 0
  /** Since when no request has been answered, by `performance.now()`; null while the server answers, or if not shared. */
  let awaySince: number | null = null
  /** Requests without an answer, in a row, that began when the server had been away for too long. */
  let lateRequests = 0
  const stopLate = createLateStop(stop, SIGN_OUT_TIMEOUT_MS)
  /** No more sign-outs are sent. */
  const isOver = createLateStop(stop, ALL_SIGN_OUTS_MS)
  let unansweredSignOuts = 0

  async function once(
    { method, path, headers: own, body }: RemoteRequest,
    silenceMs: number,
    ...stops: readonly AbortSignal[]
  ): Promise<RemoteAnswer | NoAnswer> {
    using silence = createSilenceLimit(silenceMs, stops)
    traffic.requests += 1
    const init: OutgoingRequest = {
      method,
      headers: { accept: JSON_ONLY, ...headers, ...(body ? { 'content-type': 'application/json' } : {}), ...own },
      signal: silence.signal,
    }
    try {
      const sent = body ? { ...init, body: JSON.stringify(body) } : init
      const response = await sendRequest(`${address}${path}`, sent)
      hasAnswered = true
      silence.isHeard()
      const whole = await readWhole(response.body ?? [], MAX_ANSWER_BYTES, silence, (byteLength) => {
        traffic.bytes += byteLength
      })
      if (whole === null) return TOO_LARGE
      if (response.status === 304) traffic.notModified += 1
      return { status: response.status, headers: response.headers, body: whole }
    } catch (error) {
      const reason = noAnswerInWords(error)
      return { status: null, reason, isTooLarge: false, isBrokenOff: isConnectionEnded(error) }
    }
  }

  async function wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: stop }).catch(() => stop.throwIfAborted())
  }

  async function send(request: RemoteRequest): Promise<RemoteAnswer> {
    const start = performance.now()
    const isLate = awaySince !== null && isTooLong(start)
    let broken = 0
    for (let attempt = 0; ; attempt += 1) {
      stop.throwIfAborted()
      if (notBefore > performance.now()) await wait(notBefore - performance.now())
      const answer = await once(request, SILENCE_MS, request.opensSession === true ? stopLate : stop)
      if (answer.status === null) stop.throwIfAborted()
      const kind = kindOf(answer)
      const isAway = kind === 'busy' || kind === 'away'
      noteWhetherAway(isAway)
      if (kind === 'broken') broken += 1
      const isLastAttempt = kind === 'broken' ? broken >= MAX_BROKEN_ATTEMPTS : !hasAnswered || isTooLong(start)
      if (isAway && isLastAttempt && isLate) lateRequests += 1
      if (kind === 'answer' || isLastAttempt) return requireAnswer(request, answer, kind)
      const pause = pauseAfter(answer, attempt)
      reportLongWait(request, answer, performance.now() + pause - start)
      await wait(pause)
    }
  }

  function reportLongWait(request: RemoteRequest, answer: RemoteAnswer | NoAnswer, waitedMs: number): void {
    if (waitedMs >= LONG_WAIT_MS && !stop.aborted) onLongWait?.(inWords(request, answer))
  }

  /** Pause before the next attempt. A Retry-After delays all requests, not only this one. */
  function pauseAfter(answer: RemoteAnswer | NoAnswer, attempt: number): number {
    const asked = answer.status === null ? null : retryAfterMs(retryFieldsOf(answer), Date.now())
    if (asked !== null) notBefore = Math.max(notBefore, performance.now() + asked)
    return pauseMs(asked, attempt)
  }

  /** Whether the server has not responded to several sign-outs in a row. */
  function ignoresSignOuts(): boolean {
    return unansweredSignOuts >= MAX_UNANSWERED_SIGN_OUTS
  }

  /** After a stop: the time limit has passed, or the server does not respond. */
  function isGivenUp(): boolean {
    return isOver.aborted || (stop.aborted && ignoresSignOuts())
  }

  /** A slow server gets as long as for a read, because a sign-out without a response counts as failed. */
  function signOutOnce(request: RemoteRequest): Promise<RemoteAnswer | NoAnswer> {
    if (stop.aborted || ignoresSignOuts()) return once(request, SIGN_OUT_TIMEOUT_MS)
    return once(request, SILENCE_MS, stopLate)
  }

  async function endSession(refreshToken: string): Promise<void> {
    const body = { refreshToken }
    const request = { method: 'DELETE', path: '/logout', body }
    const start = performance.now()
    let broken = 0
    let attemptsAfterStop = 0
    for (let attempt = 0; ; attempt += 1) {
      if (!isGivenUp() && notBefore > performance.now()) await rest(notBefore - performance.now())
      if (isGivenUp()) break
      if (stop.aborted) attemptsAfterStop += 1
      const answer = await signOutOnce(request)
      unansweredSignOuts = answer.status === null ? unansweredSignOuts + 1 : 0
      if (isSuccess(answer)) return
      if (answer.status === 401 && (await isTokenUnknown(body))) return
      const kind = answer.status === null ? (answer.isBrokenOff ? 'broken' : 'answer') : kindOfStatus(answer.status)
      if (kind === 'broken') broken += 1
      const isTold = kind === 'answer' || (kind === 'broken' && broken >= MAX_BROKEN_ATTEMPTS)
      if (isTold || attemptsAfterStop >= MAX_SIGN_OUT_ATTEMPTS || (attemptsAfterStop === 0 && isTooLong(start))) break
      const pause = pauseAfter(answer, attempt)
      reportLongWait(request, answer, performance.now() + pause - start)
      await rest(pause)
    }
    traffic.sessionsLeft += 1
  }

  /**
   * For a sign-out that got 401: either the session has ended before, or the token did not arrive, because proxies drop
   * the body of a DELETE. The contract says 401 for a token that the server does not know, but some servers answer 400.
   */
  async function isTokenUnknown(body: { readonly refreshToken: string }): Promise<boolean> {
    const { status } = await signOutOnce({ method: 'POST', path: '/token', body })
    return status === 400 || status === 401
  }

  /** Pauses between sign-outs. `stop` ends the pause without an error. After a stop, the pause is short. */
  async function rest(ms: number): Promise<void> {
    if (stop.aborted) await delay(Math.min(ms, SIGN_OUT_TIMEOUT_MS))
    else await delay(ms, undefined, { signal: stop }).catch(() => {})
  }

  function noteWhetherAway(isAway: boolean): void {
    if (!isAway) [awaySince, lateRequests] = [null, 0]
    else if (isOutageShared) awaySince ??= performance.now()
  }

  /** For a request that began at `start`: whether it, or the server's absence, has lasted too long. */
  function isTooLong(start: number): boolean {
    return performance.now() - Math.min(start, awaySince ?? start) >= maxOutageMs
  }

  /** The query names a project, so it is left out. */
  function inWords({ method, path }: RemoteRequest, answer: RemoteAnswer | NoAnswer): string {
    const name = `${method} ${address}${path.split('?')[0]}`
    return answer.status === null ? `${name}: ${answer.reason}` : `${name} answered ${answer.status}`
  }

  function requireAnswer(request: RemoteRequest, answer: RemoteAnswer | NoAnswer, kind: string): RemoteAnswer {
    const words = inWords(request, answer)
    if (answer.status === null) throw new (answer.isTooLarge ? ContractError : OutageError)(words)
    if (kind === 'busy') throw new OutageError(words)
    return answer
  }

  return {
    send,
    endSession,
    isDown: () => lateRequests >= REQUESTS_OF_DOWN_SERVER,
    address,
    traffic: () => ({ ...traffic }),
  }
}
