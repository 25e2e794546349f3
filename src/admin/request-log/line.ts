// Formats a request as a log line: JSON like the rest of the log, or short for a terminal. It is hand-written because
// it runs often.
import { isPlanned } from '../../http/problem-details.ts'
import type { GatewayRequest } from '../../http/request.ts'
import type { RequestRecord, Route } from '../../http/request-record.ts'
import { createByRoute } from '../by-route.ts'
import { type LineBytes, putBytes, putText, putThousandths, putThreeDigits, putWhole } from './line-bytes.ts'

export interface LineContext {
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly requestId: string
  /** The hash of the user; null when nobody was signed in. */
  readonly user: string | null
  /** The network of the client's address. */
  readonly network: string
}

/** Appends a line; the caller has made room for it. */
export type PutLine = (out: LineBytes, request: GatewayRequest, context: LineContext) => void

/** Clients choose operation names; GraphQL allows only letters, digits and `_` in them. */
const MAX_OPERATION_LENGTH = 64
/** pino's numbers. */
const INFO = 30
const WARN = 40
const ERROR = 50
const AFTER_TIME = '","requestId":"'

function levelOf({ status, failureCode }: RequestRecord): number {
  if (status >= 500 && !isPlanned(failureCode)) return ERROR
  return status >= 400 ? WARN : INFO
}

/**
 * Writes values without escaping: each one is a number, comes from a closed list, or was checked to contain nothing
 * that JSON escapes.
 */
export function createJsonLine(): PutLine {
  const beginningOf = createBeginning()
  const aboutOf = createByRoute(writeAbout)
  return (out, { method, record }, { now, requestId, user, network }) => {
    const { route, status, sentBytes, durationMs, isKept, operationName, failureCode, traceId } = record
    putBytes(out, beginningOf(now, levelOf(record)))
    putText(out, requestId)
    putBytes(out, aboutOf(method, route, status))
    putWhole(out, sentBytes)
    putText(out, ',"ms":')
    putThousandths(out, durationMs)
    if (isKept) putText(out, ',"kept":true')
    if (operationName !== null) putMember(out, ',"operation":"', operationName.slice(0, MAX_OPERATION_LENGTH))
    if (failureCode !== null) putMember(out, ',"code":"', failureCode)
    if (record.isBrokenOff) putText(out, ',"brokenOff":true')
    if (record.isOriginRefused) putText(out, ',"originRefused":true')
    if (traceId !== null) putMember(out, ',"traceId":"', traceId)
    if (user !== null) putMember(out, ',"user":"', user)
    putText(out, ',"network":"')
    putText(out, network)
    putText(out, '","msg":"request"}\n')
  }
}

/** `beginning` is the text before the value: a comma, the name, a quotation mark. */
function putMember(out: LineBytes, beginning: string, value: string): void {
  putText(out, beginning)
  putText(out, value)
  putText(out, '"')
}

/** Formats level and time once per second and level. Each line only fills in its milliseconds. */
function createBeginning(): (now: number, level: number) => Uint8Array {
  let lastSecond = 0
  let lastLevel = 0
  let bytes = Buffer.alloc(0)
  return (now, level) => {
    const second = Math.floor(now / 1_000)
    if (second !== lastSecond || level !== lastLevel) {
      lastSecond = second
      lastLevel = level
      bytes = Buffer.from(`{"level":${level},"time":"${new Date(now).toISOString()}${AFTER_TIME}`)
    }
    putThreeDigits(bytes, bytes.byteLength - AFTER_TIME.length - 'mmmZ'.length, now % 1_000)
    return bytes
  }
}

/** Formats method, route and status: one text per existing route and status. */
function writeAbout(method: string, route: Route | null, status: number): Uint8Array {
  // Without a route the path is whatever the client sent, so it is not logged.
  const shownRoute = route === null ? '' : `,"route":"${route.path}"`
  return Buffer.from(`","method":"${method}"${shownRoute},"status":${status},"bytes":`)
}

const RESET = '\u001b[0m'
const GREEN = '\u001b[32m'
const YELLOW = '\u001b[33m'
const RED = '\u001b[31m'

export function createPrettyLine(isColourless: boolean): PutLine {
  return (out, { method, record }, context) => {
    const { route, status, sentBytes, durationMs, isKept, operationName, failureCode, isOriginRefused } = record
    const level = levelOf(record)
    const colour = level === ERROR ? RED : level === WARN ? YELLOW : GREEN
    const notes = [
      operationName?.slice(0, MAX_OPERATION_LENGTH),
      failureCode,
      isKept ? 'kept' : null,
      record.isBrokenOff ? 'broken off' : null,
      isOriginRefused ? 'origin refused' : null,
      context.user,
      level === INFO ? null : context.requestId,
    ].filter((note) => note != null)
    const time = new Date(context.now).toISOString().slice(11, 23)
    const what = `${method.padEnd(7)} ${(route?.path ?? '-').padEnd(14)}`
    const shownStatus = isColourless ? status : `${colour}${status}${RESET}`
    putText(out, `${time} ${what} ${shownStatus} ${durationMs.toFixed(1)} ms ${sentBytes} B ${notes.join(' ')}\n`)
  }
}
