// Reads the members of a selection from a stored document, and scans a long document at most once per request.
import type { HasText } from '../../resolvers/documents/member-field.ts'
import { type MemberReader, memberText } from '../../resolvers/documents/member-reader.ts'
import type { SelectedMembers } from './plan/type-members.ts'
import type { LongDocument, Run } from './run.ts'
import { itemsOfLength } from './turn-clock.ts'

/** A document of at least this many UTF-16 units is long. Scanning a shorter one is cheaper than caching the result. */
const MIN_REMEMBERED_LENGTH = 16_384

/** The JSON texts that the fields answer; null for a member that is missing or of another type. */
export function readMembers(members: SelectedMembers, run: Run, document: HasText): readonly (string | null)[] {
  const { reader, fields, places } = members
  const { text } = document
  if (text.length >= MIN_REMEMBERED_LENGTH) return readLong(members, run, document)
  run.scannedLength += text.length
  const values = reader.texts(text, places)
  for (let slot = 0; slot < values.length; slot += 1) {
    const written = values[slot]
    if (written != null) values[slot] = fields[slot]?.accept(written) ?? null
  }
  return values
}

/** Whether to scan the document in a later turn: it is long, not scanned yet, and this turn has done enough work. */
export function shouldDefer(run: Run, document: HasText): boolean {
  const { length } = document.text
  if (length < MIN_REMEMBERED_LENGTH || run.longDocuments?.has(storedObjectOf(document))) return false
  return run.clock.isOverdue(1, itemsOfLength(length))
}

/** Scans a long document at most once per request. */
function findMembers(reader: MemberReader, run: Run, document: HasText): LongDocument {
  run.longDocuments ??= new WeakMap()
  const stored = storedObjectOf(document)
  const known = run.longDocuments.get(stored)
  if (known) return known
  const found: LongDocument = { spans: reader.spans(document.text), values: new Map() }
  run.longDocuments.set(stored, found)
  return found
}

function readLong({ reader, fields, places }: SelectedMembers, run: Run, document: HasText) {
  const { spans, values } = findMembers(reader, run, document)
  return fields.map((field, slot) => {
    const known = values.get(field)
    if (known !== undefined) return known
    const written = memberText(document.text, spans, places[slot] ?? -1)
    const value = written === null ? null : field.accept(written)
    values.set(field, value)
    return value
  })
}

function storedObjectOf(document: HasText): object {
  return document.stored ?? document
}
