// Formats a JSON log line for a terminal: time, level, message, and the other members as name=value.
import type { ServeConfig } from '../options/serve-options.ts'

const WARN = 40
const ERROR = 50
/** Names of pino's levels by number. */
const LEVELS: ReadonlyMap<number, string> = new Map([
  [10, 'trace'],
  [20, 'debug'],
  [30, 'info'],
  [WARN, 'warn'],
  [ERROR, 'error'],
  [60, 'fatal'],
])
const RESET = '\u001b[0m'
const YELLOW = '\u001b[33m'
const RED = '\u001b[31m'

const PLAIN = /^[\w.:/+@-]+$/
/** Characters that JSON leaves unescaped but that control a terminal or change the text direction. */
const OBEYED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The same JSON without characters that a terminal obeys: a log in JSON is read at terminals, too. */
export function escapeObeyed(json: string): string {
  return json.replace(OBEYED, (code) => `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

interface LogLine {
  readonly level: number
  /** ISO 8601. */
  readonly time: string
  readonly msg: string
}

/** Whether the log and the request log are written in the readable format. */
export function isReadable(accessLog: ServeConfig['accessLog'], isTerminal: boolean): boolean {
  return accessLog === 'pretty' || (accessLog !== 'json' && isTerminal)
}

/** `line` is a JSON line of pino. The frames of a stack follow on lines of their own. */
export function toReadableLine(line: string, isColourless: boolean): string {
  const { level, time, msg, ...rest }: LogLine = JSON.parse(line)
  const frames: string[] = []
  const members = [...membersOf(rest, '', msg, frames)]
  const colour = level >= ERROR ? RED : level === WARN ? YELLOW : RESET
  const name = (LEVELS.get(level) ?? String(level)).padEnd(5)
  const shownLevel = isColourless ? name : `${colour}${name}${RESET}`
  const first = [time.slice(11, 23), shownLevel, unquoted(msg), ...members].join(' ')
  return `${[first, ...frames].join('\n')}\n`
}

/** Yields members as name=value, nested names joined by dots. An object with the name of the message adds no prefix. */
function* membersOf(object: object, prefix: string, about: string, frames: string[]): Generator<string> {
  for (const [name, value] of Object.entries(object)) {
    if (name === 'stack') frames.push(...framesOf(String(value)))
    else if (typeof value === 'object' && value !== null)
      yield* membersOf(value, name === about ? prefix : `${prefix}${name}.`, about, frames)
    else yield `${prefix}${name}=${PLAIN.test(String(value)) ? value : quoted(String(value))}`
  }
}

/** The frames of a stack, without its message: that is a member already. */
function framesOf(stack: string): readonly string[] {
  return stack.split('\n').flatMap((text) => (/^\s+at /.test(text) ? [`    ${unquoted(text.trim())}`] : []))
}

function quoted(text: string): string {
  return escapeObeyed(JSON.stringify(text))
}

function unquoted(text: string): string {
  return quoted(text).slice(1, -1)
}
