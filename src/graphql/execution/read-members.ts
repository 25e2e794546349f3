// Takes the members of a selection out of a stored document. A long one is looked through once for a request, wherever it stands in the answer.
import type { HasText } from '../../resolvers/documents/member-field.ts'
import { type MemberReader, memberText } from '../../resolvers/documents/member-reader.ts'
import type { SelectedMembers } from './plan/type-members.ts'
import type { LongDocument, Run } from './run.ts'
import { itemsOfLength } from './turn-clock.ts'

/** UTF-16 units from which on a document is long. To look through a shorter one takes less than to remember it. */
const MIN_REMEMBERED_LENGTH = 16_384

/** The members as their fields answer them; null for what the document lacks or has of another type. */
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

/** Whether the document is to be looked through in another turn: it is long, and this turn has done enough. */
export function isForLater(run: Run, document: HasText): boolean {
  const { length } = document.text
  if (length < MIN_REMEMBERED_LENGTH || run.longDocuments?.has(storedOf(document))) return false
  return run.clock.isOverdue(1, itemsOfLength(length))
}

/** Looks through a long document, unless that was done. */
function findMembers(reader: MemberReader, run: Run, document: HasText): LongDocument {
  run.longDocuments ??= new WeakMap()
  const stored = storedOf(document)
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

function storedOf(document: HasText): object {
  return document.stored ?? document
}
