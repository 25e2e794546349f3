// Encodes and decodes cursors: the place of an item in its list, opaque to clients.
import { GatewayError } from '../../errors.ts'
import type { ExportPlace } from '../../store/contract.ts'

const POSITION = /^[1-9]\d{0,14}$/
const EXPORT_PLACE = /^(?<instant>[\dT:.Z+-]{1,40})\/(?<id>[1-9]\d{0,14})$/
/** More than any cursor has. A longer text is not decoded, because a request may name it ten thousand times. */
const MAX_CURSOR_LENGTH = 80

/** The name of the argument that contained the cursor. */
type Argument = 'after' | 'before'

export function positionCursor({ position }: { readonly position: number }): string {
  return encode(String(position))
}

/** Throws `INVALID_ARGUMENT`. */
export function requirePosition(cursor: string, argument: Argument): number {
  const position = decode(cursor)
  if (!POSITION.test(position)) throw invalidCursor(argument)
  return Number(position)
}

export function exportCursor({ instant, id }: ExportPlace): string {
  return encode(`${instant}/${id}`)
}

/** Throws `INVALID_ARGUMENT`. */
export function requireExportPlace(cursor: string, argument: Argument): ExportPlace {
  const place = EXPORT_PLACE.exec(decode(cursor))?.groups
  if (place?.instant === undefined) throw invalidCursor(argument)
  return { instant: place.instant, id: Number(place.id) }
}

function invalidCursor(argument: Argument): GatewayError {
  return new GatewayError('INVALID_ARGUMENT', { message: `\`${argument}\` is not a cursor of this list.` })
}

// Opaque on purpose (Relay cursor connections): clients return cursors, they do not construct them.
function encode(place: string): string {
  return Buffer.from(place).toString('base64url')
}

/** Empty if the text is longer than any cursor. */
function decode(cursor: string): string {
  if (cursor.length > MAX_CURSOR_LENGTH) return ''
  return Buffer.from(cursor, 'base64url').toString()
}
