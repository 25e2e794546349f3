// Reads the members of a selection from a stored document. Scans a long document at most once per request, and shorter
// ones too once the request has scanned much.
import type { HasText } from '../../resolvers/documents/member-field.ts'
import { type MemberReader, memberText } from '../../resolvers/documents/member-reader.ts'
import type { SelectedMembers } from './plan/type-members.ts'
import type { Run, ScannedDocument } from './run.ts'
import { itemsOfLength } from './turn-clock.ts'

/** A document of at least this many UTF-16 units is long. Scanning a shorter one is cheaper than caching the result. */
const MIN_REMEMBERED_LENGTH = 16_384
/**
 * UTF-16 units of shorter documents that one request may scan before it remembers those too: aliases may name a few
 * documents of 16 kB at 75,000 places.
 */
const FREE_LENGTH = 4_194_304
/** From then on, a document of at least this many UTF-16 units is remembered. */
const MIN_REPEATED_LENGTH = 2_048
/** A longer document, in UTF-16 units, is scanned in several turns: scanning a million small members takes 100 ms. */
const MAX_LENGTH_PER_TURN = 1_048_576
/** UTF-16 units of it that are scanned in a turn. */
const PIECE_LENGTH = 131_072

/** The JSON texts that the fields answer; null for a member that is missing or of another type. */
export function readMembers(members: SelectedMembers, run: Run, document: HasText): readonly (string | null)[] {
  const { reader, fields, places } = members
  const { text } = document
  if (isRemembered(run, text.length)) return readRemembered(members, run, document)
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
  if (length < MIN_REMEMBERED_LENGTH || run.scannedDocuments?.has(storedObjectOf(document))) return false
  return run.clock.isOverdue(1, itemsOfLength(length))
}

function isRemembered(run: Run, length: number): boolean {
  return length >= (run.scannedLength > FREE_LENGTH ? MIN_REPEATED_LENGTH : MIN_REMEMBERED_LENGTH)
}

/** Whether to scan the document in several turns. */
export function isVeryLong({ text }: HasText): boolean {
  return text.length > MAX_LENGTH_PER_TURN
}

/**
 * Remembers what `readMembers` needs of a very long document. Selections of the same document wait for each other, so
 * that nothing is scanned twice.
 */
export function scanInTurns(members: SelectedMembers, run: Run, document: HasText): Promise<void> {
  const stored = storedObjectOf(document)
  run.scansInTurns ??= new WeakMap()
  const scanning = scanAfter(run.scansInTurns.get(stored), members, run, document)
  run.scansInTurns.set(stored, scanning)
  return scanning
}

async function scanAfter(
  before: Promise<void> | undefined,
  { reader, fields, places }: SelectedMembers,
  run: Run,
  document: HasText,
): Promise<void> {
  await before
  const { text } = document
  const stored = storedObjectOf(document)
  run.scannedDocuments ??= new WeakMap()
  let scanned = run.scannedDocuments.get(stored)
  if (!scanned) {
    scanned = { spans: await inTurns(reader.spansInPieces(text, PIECE_LENGTH), run), values: new Map() }
    run.scannedDocuments.set(stored, scanned)
  }
  for (const [slot, field] of fields.entries()) {
    if (!field.acceptInPieces || scanned.values.has(field)) continue
    const written = memberText(text, scanned.spans, places[slot] ?? -1)
    const value = written === null ? null : await inTurns(field.acceptInPieces(written, PIECE_LENGTH), run)
    scanned.values.set(field, value)
  }
}

async function inTurns<T>(pieces: Generator<void, T>, run: Run): Promise<T> {
  for (;;) {
    const piece = pieces.next()
    if (piece.done) return piece.value
    await run.yieldTurn()
  }
}

/** Scans a document at most once per request. */
function findMembers(reader: MemberReader, run: Run, document: HasText): ScannedDocument {
  run.scannedDocuments ??= new WeakMap()
  const stored = storedObjectOf(document)
  const known = run.scannedDocuments.get(stored)
  if (known) return known
  // Long documents count for the clock in `shouldDefer`.
  if (document.text.length < MIN_REMEMBERED_LENGTH) run.scannedLength += document.text.length
  const found: ScannedDocument = { spans: reader.spans(document.text), values: new Map() }
  run.scannedDocuments.set(stored, found)
  return found
}

function readRemembered({ reader, fields, places }: SelectedMembers, run: Run, document: HasText) {
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
