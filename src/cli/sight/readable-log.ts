// The log for people at a terminal: each line of JSON as its time, level and message, and its other members as name=value.
import type { ServeConfig } from '../options/serve-options.ts'

const WARN = 40
const ERROR = 50
/** Of pino, by their numbers. */
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
/** What JSON leaves as it is and a terminal may obey, or show in another order. */
const OBEYED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

interface LogLine {
  readonly level: number
  /** ISO 8601. */
  readonly time: string
  readonly msg: string
}

/** Whether the log, and that of requests, is for people. */
export function isReadable(accessLog: ServeConfig['accessLog'], isTerminal: boolean): boolean {
  return accessLog === 'pretty' || (accessLog !== 'json' && isTerminal)
}

/** `line` is one of pino's. The frames of a stack stand below it. */
export function toReadableLine(line: string): string {
  const { level, time, msg, ...rest }: LogLine = JSON.parse(line)
  const frames: string[] = []
  const members = [...membersOf(rest, '', msg, frames)]
  const colour = level >= ERROR ? RED : level === WARN ? YELLOW : RESET
  const shownLevel = `${colour}${(LEVELS.get(level) ?? String(level)).padEnd(5)}${RESET}`
  const first = [time.slice(11, 23), shownLevel, unquoted(msg), ...members].join(' ')
  return `${[first, ...frames].join('\n')}\n`
}

/** What the message is about has no prefix of the same name. */
function* membersOf(object: object, prefix: string, about: string, frames: string[]): Generator<string> {
  for (const [name, value] of Object.entries(object)) {
    if (name === 'stack') frames.push(...framesOf(String(value)))
    else if (typeof value === 'object' && value !== null)
      yield* membersOf(value, name === about ? prefix : `${prefix}${name}.`, about, frames)
    else yield `${prefix}${name}=${PLAIN.test(String(value)) ? value : quoted(String(value))}`
  }
}

/** The message above them is a member. */
function framesOf(stack: string): readonly string[] {
  return stack.split('\n').flatMap((text) => (/^\s+at /.test(text) ? [`    ${unquoted(text.trim())}`] : []))
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(OBEYED, (code) => `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function unquoted(text: string): string {
  return quoted(text).slice(1, -1)
}
