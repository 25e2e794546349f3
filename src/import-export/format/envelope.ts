// Parses one line of the import format and checks what all kinds of records have in common.
import { getHeapStatistics } from 'node:v8'
import { canonicalEmail } from '../../auth/email.ts'
import { reasonOf } from '../../errors.ts'
import { hasMoreValues, type Member, membersOf, memberText, parseJsonText } from '../../json-text.ts'
import { toLine } from '../../redact.ts'
import { MAX_NAME_LENGTH } from '../../store/reads-contract.ts'

/** A parsed value takes up to 200 bytes, however short its text is. The rest is for the text and what is made of it. */
const HEAP_BYTES_PER_VALUE = 250
/** V8's young generation, which is for new values only, has this much of the heap's limit at most, depending on Node. */
const MAX_YOUNG_BYTES = 201_326_592
/** In a small heap, the young generation has less: this part of the limit is certainly for other values. */
const MIN_OLD_PART = 1 / 4
/** V8 numbers the members of an object in 23 bits. With more of them it numbers all anew for each one: without end. */
const MAX_MEMBERS = 2 ** 23 - 1

/**
 * Maximum number of values in one record: as many as the heap has room for, and so few that an object of them, with a
 * name and a value for each member, stays within `MAX_MEMBERS`. A thread whose heap is full ends the whole process.
 */
export const MAX_VALUES = maxValuesOf(getHeapStatistics().heap_size_limit)
const INTEGER = /^-?\d+$/

/** Describes what is wrong with a line. The message is printed after `file:line: `. */
export class RecordError extends Error {
  override readonly name = 'RecordError'

  /** `reason` may contain names of the input, which must not add lines to the output or control the terminal. */
  constructor(reason: string) {
    super(toLine(reason))
  }
}

export interface Envelope {
  readonly line: string
  readonly value: Readonly<Record<string, unknown>>
  readonly members: ReadonlyMap<string, Member>
}

function maxValuesOf(heapBytes: number): number {
  const oldBytes = Math.max(heapBytes - MAX_YOUNG_BYTES, heapBytes * MIN_OLD_PART)
  return Math.min(Math.floor(oldBytes / HEAP_BYTES_PER_VALUE), 2 * MAX_MEMBERS)
}

export function readEnvelope(line: string): Envelope {
  const value = parseRecord(line)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RecordError('not a JSON object')
  const members = new Map<string, Member>()
  for (const member of membersOf(line)) {
    if (members.has(member.name)) throw new RecordError(`"${shortened(member.name)}" is given twice`)
    members.set(member.name, member)
  }
  return { line, value: value as Record<string, unknown>, members }
}

/** Parses a line. Throws `RecordError`. */
export function parseRecord(line: string): unknown {
  try {
    if (!hasMoreValues(line, MAX_VALUES)) return parseJsonText(line)
  } catch (error) {
    throw new RecordError(`not valid JSON${columnIn(error)}`)
  }
  const reason = `Node.js cannot hold a record with more than ${MAX_VALUES} values`
  throw new RecordError(`${reason} (an export can have a line for each element)`)
}

/** Position of the syntax error, when the error message has it. For an unexpected token it does not. */
function columnIn(error: unknown): string {
  const [, position] = /in JSON at position (\d+) \(line/.exec(reasonOf(error)) ?? []
  return position === undefined ? '' : ` at column ${Number(position) + 1}`
}

export function requireData({ members }: Envelope): Member {
  const member = members.get('data')
  if (!member) throw new RecordError('"data" is missing')
  return member
}

export function textOfData(envelope: Envelope): string {
  const { start, end } = requireData(envelope)
  return envelope.line.slice(start, end)
}

export function requireText({ value }: Envelope, name: string): string {
  const text = value[name]
  if (typeof text !== 'string' || text === '') throw new RecordError(`"${name}" must be a string that is not empty`)
  return text
}

export function requireName(envelope: Envelope, name: string): string {
  return requireStorable(requireText(envelope, name), name)
}

/** Caches the last email, because lines of one user often follow each other. */
export function createEmailReader(): (envelope: Envelope) => string {
  let last = { input: '', email: '' }
  return (envelope) => {
    const input = requireText(envelope, 'email')
    if (input === last.input) return last.email
    const email = canonicalEmail(input)
    if (email === null) throw new RecordError('"email" is not a valid email address')
    last = { input, email }
    return email
  }
}

/** Databases can neither store U+0000 in a text nor compare lone surrogates. `name` is the name of the member. */
export function requireStorable(text: string, name: string): string {
  if (text.length > MAX_NAME_LENGTH) throw new RecordError(`"${name}" is longer than ${MAX_NAME_LENGTH} characters`)
  if (!text.isWellFormed()) throw new RecordError(`"${name}" is not valid Unicode`)
  if (text.includes('\0')) throw new RecordError(`"${name}" has the character U+0000, which cannot be stored`)
  return text
}

/** All digits of an integer as written in the member `name`; null for any other number. */
export function integerText(text: string, name: string): string | null {
  const digits = memberText(text, name) ?? ''
  return INTEGER.test(digits) ? digits : null
}

/**
 * Shortens a name from the input for a message. A name may be one long word, of which `excerpt` in redact.ts keeps
 * nothing.
 */
export function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
