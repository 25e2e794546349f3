// `first` and `after`, and the cursors they speak in.
import { GatewayError } from '../../errors.ts'
import type { ExportPage, Page, StoredExport } from '../../store/contract.ts'

export interface PageArguments {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
}

const POSITION = /^[1-9]\d{0,14}$/
const EXPORT_PLACE = /^(?<instant>[\dT:.Z+-]{1,40})\/(?<id>[1-9]\d{0,14})$/

/** The page of a list whose items have positions. Throws `INVALID_ARGUMENT`. */
export function requirePage(args: PageArguments): Page {
  return { after: requirePosition(args.after), limit: requireLimit(args.first) }
}

/** The page of an export history. Throws `INVALID_ARGUMENT`. */
export function requireExportPage(args: PageArguments): Pick<ExportPage, 'after' | 'limit'> {
  const limit = requireLimit(args.first)
  if (args.after == null) return { after: null, limit }
  const place = EXPORT_PLACE.exec(decode(args.after))?.groups
  if (place?.instant === undefined) throw invalidCursor()
  return { after: { instant: place.instant, id: Number(place.id) }, limit }
}

export function positionCursor({ position }: { readonly position: number }): string {
  return encode(String(position))
}

export function exportCursor({ instant, id }: StoredExport): string {
  return encode(`${instant}/${id}`)
}

function requirePosition(cursor: string | null | undefined): number {
  if (cursor == null) return 0
  const position = decode(cursor)
  if (!POSITION.test(position)) throw invalidCursor()
  return Number(position)
}

function requireLimit(first: number | null | undefined): number | null {
  if (first == null) return null
  if (first < 0) throw new GatewayError('INVALID_ARGUMENT', { message: '`first` must be 0 or more.' })
  return first
}

function invalidCursor(): GatewayError {
  return new GatewayError('INVALID_ARGUMENT', { message: '`after` is not a cursor of this list.' })
}

// Opaque on purpose (Relay cursor connections): clients pass cursors back, they do not make them.
function encode(place: string): string {
  return Buffer.from(place).toString('base64url')
}

function decode(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString()
}
