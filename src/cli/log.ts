// The log on stderr, without secrets, as `--log-level` asks for it: lines of JSON, or for people where that is a terminal.
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Logger, pino } from 'pino'
import { toGatewayError } from '../auth/to-gateway-error.ts'
import { causeOf, type ReportFailure } from '../http/problem-details.ts'
import type { BreakReason, ReportBrokenOff } from '../http/server/broken-off.ts'
import type { ConnectionRefusal, ReportRefusedConnection } from '../http/server/server.ts'
import { excerpt, redact } from '../redact.ts'
import { StoreFaultError, StoreUnavailableError } from '../store/contract.ts'
import type { CommandIo } from './io.ts'
import type { ServeConfig } from './options/serve-options.ts'
import type { LogOutput } from './sight/log-output.ts'
import { isReadable, toReadableLine } from './sight/readable-log.ts'

/** Of a message or a stack, in UTF-16 units: what a client sent may be in it. */
const MAX_LOGGED_LENGTH = 8_192

type LogConfig = Pick<ServeConfig, 'logLevel'> & Partial<Pick<ServeConfig, 'accessLog'>>

export function createLog(
  { logLevel, accessLog = 'auto' }: LogConfig,
  { stderr, isTerminal }: { readonly stderr: LogOutput } & Pick<CommandIo, 'isTerminal'>,
): Logger {
  return pino(
    { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: toLoggedError } },
    isReadable(accessLog, isTerminal) ? { write: (line) => stderr.write(toReadableLine(line)) } : stderr,
  )
}

/** Of a line about what comes as often as clients like. */
const LINE_PAUSE_MS = 60_000
/** Causes that are told apart. */
const MAX_OUTAGES = 100

interface Outage {
  count: number
  incident: string
  toldAt: number
}

/**
 * A failure that a client was told nothing about but its incident. What fails all requests for a while, such as a database that is
 * away, is one incident a minute for each cause; `count` is how many failed so since the start. `clock` is in milliseconds.
 */
export function createReport(log: Logger, clock: () => number): ReportFailure {
  const outages = new LRUCache<string, Outage>({ max: MAX_OUTAGES })

  function write(error: unknown, requestId: string | undefined, more: { readonly count?: number } = {}): string {
    // RFC 9562 section 4, in its URN form.
    const incident = `urn:uuid:${randomUUID()}`
    const request = requestId === undefined ? {} : { requestId }
    log.error({ err: error, incident, ...request, ...more }, 'a request failed')
    return incident
  }

  return (error, requestId) => {
    if (!isOutage(error)) return write(error, requestId)
    const cause = String(causeOf(error))
    const outage = outages.get(cause) ?? { count: 0, incident: '', toldAt: -Infinity }
    outages.set(cause, outage)
    outage.count += 1
    const now = clock()
    if (now - outage.toldAt >= LINE_PAUSE_MS) {
      outage.toldAt = now
      outage.incident = write(error, requestId, { count: outage.count })
    }
    return outage.incident
  }
}

/** Whether every request fails in the same way until it is over. */
function isOutage(error: unknown): boolean {
  return error instanceof StoreFaultError || toGatewayError(error).code === 'UNAVAILABLE'
}

/** Answers whether it is time for another line of this kind. */
function onceAMinute<Kind>(clock: () => number): (kind: Kind) => boolean {
  const toldAt = new Map<Kind, number>()
  return (kind) => {
    const now = clock()
    const isDue = now - (toldAt.get(kind) ?? -Infinity) >= LINE_PAUSE_MS
    if (isDue) toldAt.set(kind, now)
    return isDue
  }
}

const BREAKS = {
  stalled: ['warn', 'a response broke off: the client did not read it in time'],
  left: ['debug', 'a response broke off: the client closed its connection'],
  failed: ['error', 'a response broke off: the rest of it could not be made'],
} as const satisfies Record<BreakReason, readonly [level: string, message: string]>

/** A target in absolute form (RFC 9112 section 3.2.2) names a host, of any length. */
const AUTHORITY = /^https?:\/\/[^/?#]*/i
const MAX_LOGGED_PATH = 200

/**
 * Responses that ended before they were whole; `count` is how many did so for the same reason since the start. Of clients that do not
 * read, a line a minute: they can be as many as there are connections. `clock` is in milliseconds.
 */
export function createBrokenOffReport(log: Logger, clock: () => number): ReportBrokenOff {
  const counts: Record<BreakReason, number> = { stalled: 0, left: 0, failed: 0 }
  const isDue = onceAMinute<BreakReason>(clock)
  return ({ reason, error, path: target, ...event }) => {
    counts[reason] += 1
    if (reason === 'stalled' && !isDue(reason)) return
    const [level, message] = BREAKS[reason]
    const path = redact(target.replace(AUTHORITY, '').slice(0, MAX_LOGGED_PATH))
    log[level]({ ...event, path, count: counts[reason], ...(error === undefined ? {} : { err: error }) }, message)
  }
}

const REFUSALS = {
  tooMany: 'connections are closed at once: as many are open as the open files of the process allow',
  noProxyHeader: 'connections of a trusted proxy are closed: they do not begin with a PROXY header',
} as const satisfies Record<ConnectionRefusal, string>

/** Connections that were closed without an answer: a line a minute at most for each reason. `count` is how many were since the start. */
export function createRefusedConnectionReport(log: Logger, clock: () => number): ReportRefusedConnection {
  const counts: Record<ConnectionRefusal, number> = { tooMany: 0, noProxyHeader: 0 }
  const isDue = onceAMinute<ConnectionRefusal>(clock)
  return (reason, peer) => {
    counts[reason] += 1
    if (!isDue(reason)) return
    // A proxy's address is in the configuration; a client's is nobody's business.
    log.warn({ ...(reason === 'noProxyHeader' ? { peer } : {}), count: counts[reason] }, REFUSALS[reason])
  }
}

/** Said when it begins and when it is over, not for every request. */
export function createOverloadReport(log: Logger): (isRefusing: boolean, refused: number) => void {
  return (isRefusing, refused) => {
    if (isRefusing) log.warn('overloaded: some requests are refused with 503')
    else log.warn({ refused }, 'no longer overloaded')
  }
}

interface LoggedError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly cause?: LoggedError
}

function toLoggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error, message: logged(String(error)) }
  const code: unknown = Reflect.get(error, 'code')
  return {
    name: error.name,
    message: logged(error.message),
    // Where in the program a database was missed tells nothing.
    ...(error.stack === undefined || error instanceof StoreUnavailableError ? {} : { stack: logged(error.stack) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.cause === undefined ? {} : { cause: toLoggedError(error.cause) }),
  }
}

function logged(text: string): string {
  return redact(excerpt(text, MAX_LOGGED_LENGTH))
}
