// Creates the log on stderr, with secrets redacted: JSON lines, or readable lines on a terminal. Also rate-limits its
// reports.
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
import { LINE_PAUSE_MS, onceAMinute } from './sight/once-a-minute.ts'
import { escapeObeyed, isReadable, toReadableLine } from './sight/readable-log.ts'

/** Maximum length of a message or a stack, in UTF-16 units: it may contain what a client sent. */
const MAX_LOGGED_LENGTH = 8_192
/** Causes of an error that are logged, each the cause of the one before: an error may be its own cause. */
const MAX_CAUSES = 8

type LogConfig = Pick<ServeConfig, 'logLevel'> & Partial<Pick<ServeConfig, 'accessLog'>>

export function createLog(
  { logLevel, accessLog = 'auto' }: LogConfig,
  {
    stderr,
    isTerminal,
    isColourless = false,
  }: { readonly stderr: LogOutput } & Pick<CommandIo, 'isTerminal' | 'isColourless'>,
): Logger {
  const format = isReadable(accessLog, isTerminal) ? (line: string) => toReadableLine(line, isColourless) : escapeObeyed
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => toLoggedError(error, MAX_CAUSES) },
    },
    { write: (line) => stderr.write(format(line)) },
  )
}

/** Number of causes that are tracked separately (LRU). */
const MAX_OUTAGES = 100

interface Outage {
  count: number
  incident: string
  toldAt: number
}

/**
 * Logs a failure and returns its incident URN, which is all that the client learns. A failure of all requests, such as
 * an unavailable database, is logged as one incident a minute for each cause; `count` is the number of such failures
 * since the start. `clock` is in milliseconds.
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

/** Whether the error belongs to an outage, in which every request fails in the same way. */
function isOutage(error: unknown): boolean {
  return error instanceof StoreFaultError || toGatewayError(error).code === 'UNAVAILABLE'
}

const BREAKS = {
  stalled: ['warn', 'a response broke off: the client did not read it in time'],
  left: ['debug', 'a response broke off: the client closed its connection'],
  failed: ['error', 'a response broke off: the rest of it could not be produced'],
} as const satisfies Record<BreakReason, readonly [level: string, message: string]>

/** The scheme and host of a target in absolute form (RFC 9112 section 3.2.2). The host can have any length. */
const AUTHORITY = /^https?:\/\/[^/?#]*/i
const MAX_LOGGED_PATH = 200

/**
 * Logs responses that ended before they were complete. `count` is the number for the same reason since the start.
 * Stalled clients get one line a minute, because there can be as many as connections. `clock` is in milliseconds.
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

const AHEAD =
  'a token comes from a clock that is ahead of this one: compare the clocks of the gateways, or this one was set back'

const REFUSALS = {
  tooMany: 'connections are closed at once: the process has as many open as its limit on open files allows',
  noProxyHeader: 'connections of a trusted proxy are closed: they do not begin with a PROXY header',
  tooManyAhead:
    'connections are closed: too many requests wait that clients sent ahead, before they had the answers to earlier ones',
} as const satisfies Record<ConnectionRefusal, string>

/**
 * Logs connections that were closed without an answer, at most one line a minute for each reason. `count` is the number
 * since the start. `clock` is in milliseconds.
 */
export function createRefusedConnectionReport(log: Logger, clock: () => number): ReportRefusedConnection {
  const counts: Record<ConnectionRefusal, number> = { tooMany: 0, noProxyHeader: 0, tooManyAhead: 0 }
  const isDue = onceAMinute<ConnectionRefusal>(clock)
  return (reason, peer) => {
    counts[reason] += 1
    if (!isDue(reason)) return
    // The address of a proxy is in the configuration anyway. The address of a client stays private.
    log.warn({ ...(reason === 'noProxyHeader' ? { peer } : {}), count: counts[reason] }, REFUSALS[reason])
  }
}

/** Logs clocks that are ahead of this one, at most one line a minute. `clock` is in milliseconds. */
export function createClockReport(log: Logger, clock: () => number): (aheadMs: number) => void {
  const isDue = onceAMinute<'ahead'>(clock)
  return (aheadMs) => {
    if (isDue('ahead')) log.warn({ aheadSeconds: Math.round(aheadMs / 1_000) }, AHEAD)
  }
}

/** Logs when an overload begins and when it ends, not every refused request. */
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

function toLoggedError(error: unknown, maxCauses: number): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error, message: logged(String(error)) }
  const code: unknown = Reflect.get(error, 'code')
  return {
    name: error.name,
    message: logged(error.message),
    // For an unavailable database, the stack says nothing useful.
    ...(error.stack === undefined || error instanceof StoreUnavailableError ? {} : { stack: logged(error.stack) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.cause === undefined || maxCauses === 0 ? {} : { cause: toLoggedError(error.cause, maxCauses - 1) }),
  }
}

function logged(text: string): string {
  return redact(excerpt(text, MAX_LOGGED_LENGTH))
}
