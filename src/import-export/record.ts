// The records of the import format: reading one line of NDJSON.
import { canonicalEmail } from '../auth/email.ts'
import { elementTexts, type Member, membersOf } from '../json-text.ts'
import type { DocumentKind } from '../store/contract.ts'
import { toSortableUtc } from './timestamp.ts'

export interface DocumentRecord {
  readonly kind: DocumentKind
  readonly email: string
  readonly id: string
  readonly ref: string | null
  /** As it stands in the line. */
  readonly text: string
  /** Where in the line the text begins. */
  readonly start: number
}

export interface ExportRecord {
  readonly kind: 'export'
  readonly email: string
  readonly ref: string
  readonly createdAt: string
  readonly instant: string
  /** Names the export to its `exportElement` lines; null when all elements are here. */
  readonly id: string | null
  readonly elements: readonly string[]
}

export interface ExportElementRecord {
  readonly kind: 'exportElement'
  /** `id` of the export. */
  readonly export: string
  readonly text: string
}

export type ImportRecord = DocumentRecord | ExportRecord | ExportElementRecord

export interface RecordFields {
  readonly idFields: readonly string[]
  readonly refFields: readonly string[]
}

/** What is wrong with a line: the reason, to be read behind `file:line: `. */
export class RecordError extends Error {
  override readonly name = 'RecordError'
}

const INTEGER = /^-?\d+$/
const MAX_NAME_LENGTH = 1_024

/** Throws `RecordError`. */
export type RecordReader = (line: string) => ImportRecord

export function createRecordReader(fields: RecordFields): RecordReader {
  const requireEmail = createEmailReader()
  return (line) => {
    const envelope = readEnvelope(line)
    const kind = requireText(envelope, 'kind')
    const read = RECORD_READERS[kind as keyof typeof RECORD_READERS]
    if (!Object.hasOwn(RECORD_READERS, kind)) {
      throw new RecordError(`unknown kind "${excerpt(kind)}": use ${Object.keys(RECORD_READERS).join(', ')}`)
    }
    return read(envelope, { fields, requireEmail })
  }
}

/** The export that a bad line claims to be an element of, null for another kind; a line that does not tell may be of any. */
export function claimedExport(line: string): { readonly id: string } | null | 'unreadable' {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null || Reflect.get(value, 'kind') !== 'exportElement') return null
    const id: unknown = Reflect.get(value, 'export')
    return typeof id === 'string' ? { id } : 'unreadable'
  } catch {
    return 'unreadable'
  }
}

interface Envelope {
  readonly line: string
  readonly value: Readonly<Record<string, unknown>>
  readonly members: ReadonlyMap<string, Member>
}

interface ReadOptions {
  readonly fields: RecordFields
  readonly requireEmail: (envelope: Envelope) => string
}

type ReadRecord = (envelope: Envelope, options: ReadOptions) => ImportRecord

const RECORD_READERS = {
  project: readDocument,
  template: readDocument,
  uiLibrary: readDocument,
  export: readExport,
  exportElement(envelope) {
    const id = requireName(envelope, 'export')
    return { kind: 'exportElement', export: id, text: textOfData(envelope) }
  },
} as const satisfies Record<ImportRecord['kind'], ReadRecord>

function readEnvelope(line: string): Envelope {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new RecordError('not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RecordError('not a JSON object')
  const members = new Map<string, Member>()
  for (const member of membersOf(line)) {
    if (members.has(member.name)) throw new RecordError(`"${excerpt(member.name)}" is given twice`)
    members.set(member.name, member)
  }
  return { line, value: value as Record<string, unknown>, members }
}

function readDocument(envelope: Envelope, { fields, requireEmail }: ReadOptions): DocumentRecord {
  const { idFields, refFields } = fields
  const kind = envelope.value.kind as DocumentKind
  const email = requireEmail(envelope)
  const { start, end } = requireData(envelope)
  const text = envelope.line.slice(start, end)
  const id = requireFirst(envelope, text, idFields, 'id')
  return {
    kind,
    email,
    id,
    ref: kind === 'project' ? requireFirst(envelope, text, refFields, 'reference') : null,
    text,
    start,
  }
}

function readExport(envelope: Envelope, { requireEmail }: ReadOptions): ExportRecord {
  const email = requireEmail(envelope)
  const ref = requireName(envelope, 'r')
  const createdAt = requireText(envelope, 'createdAt')
  const instant = toSortableUtc(createdAt)
  if (instant === null) throw new RecordError('"createdAt" is not an RFC 3339 date and time')
  const head = { kind: 'export', email, ref, createdAt, instant } as const
  const { members } = envelope
  if (members.has('id') === members.has('data')) {
    throw new RecordError('an export has either "data", or an "id" and exportElement lines that name it')
  }
  if (members.has('id')) return { ...head, id: requireName(envelope, 'id'), elements: [] }
  const elements = elementTexts(textOfData(envelope))
  if (!elements) throw new RecordError('"data" of an export must be an array')
  return { ...head, id: null, elements }
}

function requireData({ members }: Envelope): Member {
  const member = members.get('data')
  if (!member) throw new RecordError('"data" is missing')
  return member
}

function textOfData(envelope: Envelope): string {
  const { start, end } = requireData(envelope)
  return envelope.line.slice(start, end)
}

function requireText({ value }: Envelope, name: string): string {
  const text = value[name]
  if (typeof text !== 'string' || text === '') throw new RecordError(`"${name}" must be a string that is not empty`)
  return text
}

function requireName(envelope: Envelope, name: string): string {
  const text = requireText(envelope, name)
  if (!isStorableName(text))
    throw new RecordError(`"${name}" is longer than ${MAX_NAME_LENGTH} characters or not valid Unicode`)
  return text
}

/** Lines of one user often follow each other: the last answer is remembered. */
function createEmailReader(): (envelope: Envelope) => string {
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

/** The first of `names` that the document has as a string or an integer, as text; all digits of an integer. */
function requireFirst({ value }: Envelope, text: string, names: readonly string[], what: string): string {
  const data = value.data
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new RecordError('"data" must be an object')
  for (const name of names) {
    const member: unknown = Object.hasOwn(data, name) ? Reflect.get(data, name) : undefined
    if (typeof member === 'string' && member !== '') {
      if (isStorableName(member)) return member
      throw new RecordError(`"data.${name}" is longer than ${MAX_NAME_LENGTH} characters or not valid Unicode`)
    }
    if (typeof member === 'number') {
      const written = membersOf(text).findLast((candidate) => candidate.name === name)
      const digits = written ? text.slice(written.start, written.end) : ''
      if (INTEGER.test(digits)) return digits
    }
  }
  throw new RecordError(`the ${kindOf(value)} has no ${what}: none of ${names.join(', ')} is a string or an integer`)
}

/** Databases cannot hold U+0000 in a text, nor compare lone surrogates. */
function isStorableName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && name.isWellFormed() && !name.includes('\0')
}

function kindOf(value: Envelope['value']): string {
  return String(value.kind)
}

function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
