// A request as a line of the log: JSON as the rest of the log is, or short for a terminal. Written by hand, since it is written often.
import type { GatewayRequest } from '../../http/request.ts'
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

function levelOf(status: number): number {
  if (status >= 500) return ERROR
  return status >= 400 ? WARN : INFO
}

/** Every value is a number, of a closed list, or was checked to hold nothing that JSON would have to escape. */
export function createJsonLine(): FormatLine {
  const timeOf = createTimeText()
  return ({ method, record }, { now, requestId, user, network }) => {
    const { route, status, sentBytes, durationMs, isKept, operationName, failureCode, isOriginRefused, traceId } =
      record
    let line = `{"level":${levelOf(status)},"time":"${timeOf(now)}","requestId":"${requestId}","method":"${method}"`
    // A path that there is not is the client's own words.
    if (route !== null) line += `,"route":"${route.path}"`
    line += `,"status":${status},"bytes":${sentBytes},"ms":${toMs(durationMs)}`
    if (isKept) line += ',"kept":true'
    if (operationName !== null) line += `,"operation":"${operationName.slice(0, MAX_OPERATION_LENGTH)}"`
    if (failureCode !== null) line += `,"code":"${failureCode}"`
    if (isOriginRefused) line += ',"originRefused":true'
    if (user !== null) line += `,"user":"${user}"`
    if (traceId !== null) line += `,"traceId":"${traceId}"`
    return `${line},"network":"${network}","msg":"request"}\n`
  }
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
  return `${whole}.${threeDigits(Math.floor((durationMs - whole) * 1_000))}`
}

/** Many requests end in the same millisecond. */
function createTimeText(): (now: number) => string {
  let last = 0
  let text = ''
  return (now) => {
    if (now === last) return text
    last = now
    text = new Date(now).toISOString()
    return text
  }
}
