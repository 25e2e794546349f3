// Parses the records of the import format: one record per line of NDJSON.
import { elementTexts } from '../../json-text.ts'
import type { DocumentKind } from '../../store/contract.ts'
import { MAX_ELEMENTS } from '../../store/reads-contract.ts'
import {
  createEmailReader,
  type Envelope,
  integerText,
  parseRecord,
  RecordError,
  readEnvelope,
  requireData,
  requireName,
  requireStorable,
  requireText,
  shortened,
  textOfData,
} from './envelope.ts'
import { isRemoval, type RemovalRecord, readRemoval } from './removal-record.ts'
import { toSortableUtc } from './timestamp.ts'

export interface DocumentRecord {
  readonly kind: DocumentKind
  readonly email: string
  readonly id: string
  readonly ref: string | null
  /** JSON text as in the line. */
  readonly text: string
  /** Offset of the text in the line. */
  readonly start: number
}

export interface ExportRecord {
  readonly kind: 'export'
  readonly email: string
  readonly ref: string
  /** RFC 3339, as in the line. */
  readonly createdAt: string
  /** The same time as `toSortableUtc` writes it. */
  readonly instant: string
  /** Id that the `exportElement` lines refer to; null when the record contains all elements. */
  readonly id: string | null
  readonly elements: readonly string[]
}

export interface ExportElementRecord {
  readonly kind: 'exportElement'
  /** `id` of the export. */
  readonly export: string
  readonly text: string
}

/** A user who exists, whatever else is imported for them. */
export interface UserRecord {
  readonly kind: 'user'
  readonly email: string
}

export type ImportRecord = DocumentRecord | ExportRecord | ExportElementRecord | UserRecord | RemovalRecord

export interface RecordFields {
  readonly idFields: readonly string[]
  readonly refFields: readonly string[]
}

/** Throws `RecordError` for a bad line. */
export type RecordReader = (line: string) => ImportRecord

export function createRecordReader(fields: RecordFields): RecordReader {
  const requireEmail = createEmailReader()
  return (line) => {
    const envelope = readEnvelope(line)
    const kind = requireText(envelope, 'kind')
    const read = RECORD_READERS[kind as keyof typeof RECORD_READERS]
    if (!Object.hasOwn(RECORD_READERS, kind)) {
      throw new RecordError(`unknown kind "${shortened(kind)}": use ${Object.keys(RECORD_READERS).join(', ')}`)
    }
    if (isRemoval(envelope)) return readRemoval(kind, envelope, requireEmail)
    return read(envelope, { fields, requireEmail })
  }
}

export interface ExportClaim {
  readonly id: string
  /** Whether the line claims to be the export, and not an element of it. */
  readonly isHead: boolean
}

/**
 * The export that a bad line claims to be or to belong to; null when it belongs to none. `unreadable`: the line may be
 * an element of any export.
 */
export function claimedExport(line: string): ExportClaim | null | 'unreadable' {
  try {
    const value = parseRecord(line)
    if (typeof value !== 'object' || value === null) return null
    const kind: unknown = Reflect.get(value, 'kind')
    if (kind !== 'export' && kind !== 'exportElement') return null
    const isHead = kind === 'export'
    const id: unknown = Reflect.get(value, isHead ? 'id' : 'export')
    if (typeof id === 'string') return { id, isHead }
    return isHead ? null : 'unreadable'
  } catch {
    return 'unreadable'
  }
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
  user: (envelope, { requireEmail }) => ({ kind: 'user', email: requireEmail(envelope) }),
} as const satisfies Record<Exclude<ImportRecord['kind'], 'removal'>, ReadRecord>

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

/** Throws `RecordError` when an export has too many elements. */
export function requirePlace(elements: number): void {
  if (elements > MAX_ELEMENTS) throw new RecordError(`an export has at most ${MAX_ELEMENTS} elements`)
}

/**
 * The value of the first of `names` that the document has as a non-empty string or as an integer, as text with all
 * digits of an integer.
 */
function requireFirst({ value }: Envelope, text: string, names: readonly string[], what: string): string {
  const data = value.data
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new RecordError(`"data" of a ${kindOf(value)} must be an object`)
  for (const name of names) {
    const member: unknown = Object.hasOwn(data, name) ? Reflect.get(data, name) : undefined
    if (typeof member === 'string' && member !== '') return requireStorable(member, `data.${name}`)
    const digits = typeof member === 'number' ? integerText(text, name) : null
    if (digits !== null) return requireStorable(digits, `data.${name}`)
  }
  const wanted = 'a string that is not empty, or an integer'
  throw new RecordError(`the ${kindOf(value)} has no ${what}: none of ${names.join(', ')} is ${wanted}`)
}

function kindOf(value: Envelope['value']): string {
  return String(value.kind)
}
