// A request as a line of the log: JSON as the rest of the log is, or short for a terminal. Written by hand, since it is written often.
import type { GatewayRequest } from '../../http/request.ts'
import type { Route } from '../../http/request-record.ts'
import { createByRoute } from '../by-route.ts'
import { threeDigits } from '../thousandths.ts'

export interface LineContext {
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly requestId: string
  /** The hash of who asked; null when nobody did. */
  readonly user: string | null
  /** Of the client's address. */
  readonly network: string
}

export type FormatLine = (request: GatewayRequest, context: LineContext) => string

/** A name that a client chose; GraphQL names hold letters, digits and `_` only. */
const MAX_OPERATION_LENGTH = 64
/** pino's numbers. */
const INFO = 30
const WARN = 40
const ERROR = 50
/** Most requests take less than a millisecond. */
const SHORT_TIMES: readonly string[] = Array.from({ length: 1_000 }, (_, at) => `,"ms":0.${threeDigits(at)}`)

function levelOf(status: number): number {
  if (status >= 500) return ERROR
  return status >= 400 ? WARN : INFO
}

/** Every value is a number, of a closed list, or was checked to hold nothing that JSON would have to escape. */
export function createJsonLine(): FormatLine {
  const beginningOf = createBeginning()
  const aboutOf = createByRoute(writeAbout)
  return ({ method, record }, { now, requestId, user, network }) => {
    const { route, status, sentBytes, durationMs, isKept, operationName, failureCode, traceId } = record
    // The fewer pieces, the less garbage: each is an object until the line is written.
    let line = beginningOf(now, status) + requestId + aboutOf(method, route, status) + sentBytes + toMs(durationMs)
    if (isKept) line += ',"kept":true'
    if (operationName !== null) line += `,"operation":"${operationName.slice(0, MAX_OPERATION_LENGTH)}"`
    if (failureCode !== null) line += `,"code":"${failureCode}"`
    if (record.isBrokenOff) line += ',"brokenOff":true'
    if (record.isOriginRefused) line += ',"originRefused":true'
    if (user !== null) line += `,"user":"${user}"`
    if (traceId !== null) line += `,"traceId":"${traceId}"`
    return `${line},"network":"${network}","msg":"request"}\n`
  }
}

/** Level and time; many requests end in the same millisecond, with the same level. */
function createBeginning(): (now: number, status: number) => string {
  let lastTime = 0
  let lastLevel = 0
  let text = ''
  return (now, status) => {
    const level = levelOf(status)
    if (now === lastTime && level === lastLevel) return text
    lastTime = now
    lastLevel = level
    text = `{"level":${level},"time":"${new Date(now).toISOString()}","requestId":"`
    return text
  }
}

/** Method, route and status, as one text for each route and status that there is. */
function writeAbout(method: string, route: Route | null, status: number): string {
  // A path that there is not is the client's own words.
  const shownRoute = route === null ? '' : `,"route":"${route.path}"`
  return `","method":"${method}"${shownRoute},"status":${status},"bytes":`
}

const RESET = '\u001b[0m'
const GREEN = '\u001b[32m'
const YELLOW = '\u001b[33m'
const RED = '\u001b[31m'

export function formatPretty({ method, record }: GatewayRequest, { now, requestId, user }: LineContext): string {
  const { route, status, sentBytes, durationMs, isKept, operationName, failureCode, isOriginRefused } = record
  const level = levelOf(status)
  const colour = level === ERROR ? RED : level === WARN ? YELLOW : GREEN
  const notes = [
    operationName?.slice(0, MAX_OPERATION_LENGTH),
    failureCode,
    isKept ? 'kept' : null,
    record.isBrokenOff ? 'broken off' : null,
    isOriginRefused ? 'origin refused' : null,
    user,
    level === INFO ? null : requestId,
  ].filter((note) => note != null)
  const time = new Date(now).toISOString().slice(11, 23)
  const what = `${method.padEnd(7)} ${(route?.path ?? '-').padEnd(14)}`
  return `${time} ${what} ${colour}${status}${RESET} ${durationMs.toFixed(1)} ms ${sentBytes} B ${notes.join(' ')}\n`
}

function toMs(durationMs: number): string {
  const whole = Math.floor(durationMs)
  const thousandths = Math.floor((durationMs - whole) * 1_000)
  return whole === 0 ? (SHORT_TIMES[thousandths] ?? '') : `,"ms":${whole}.${threeDigits(thousandths)}`
}
