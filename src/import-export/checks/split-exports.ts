// Tracks the exports of a file whose elements have lines of their own, and which of them have a bad line.
import { RecordError } from '../format/envelope.ts'
import type { Line } from '../format/lines.ts'
import { claimedExport, type ImportRecord, requirePlace } from '../format/read-record.ts'
import type { RemovalRecord } from '../format/removal-record.ts'
import { createOpenExports, type Endable } from './open-exports.ts'

/** An export whose elements have lines of their own. */
export interface SplitExport extends Endable {
  readonly line: number
  lastLine: number
  elements: number
  /** The first bad line that is, or may be, one of its elements. */
  brokenBy: number | null
}

export interface SplitExports {
  readonly byId: ReadonlyMap<string, SplitExport>
  /** Throws `RecordError` for a duplicate id, and for an element without its export. */
  readonly note: (record: ImportRecord, line: number) => void
  /** Ends the exports before this line that the record may remove: no further element may follow. */
  readonly end: (removal: RemovalRecord, line: number) => void
  /** Marks exports as broken: an export that lacks an element must not pass as complete. */
  readonly noteBad: (line: Line) => void
}

export function createSplitExports(): SplitExports {
  const byId = new Map<string, SplitExport>()
  const openExports = createOpenExports()
  /**
   * Exports not yet broken by a line that could belong to any export. Each is visited once, however many such lines
   * there are.
   */
  let whole: SplitExport[] = []

  return {
    byId,
    note(record, line) {
      if (record.kind === 'export' && record.id !== null) {
        if (byId.has(record.id)) throw new RecordError(`an earlier line has an export with the id "${record.id}"`)
        const split = { line, lastLine: line, elements: 0, brokenBy: null, endedBy: null }
        byId.set(record.id, split)
        whole.push(split)
        openExports.add(record, split)
      } else if (record.kind === 'exportElement') {
        const found = byId.get(record.export)
        if (!found) throw new RecordError(`no earlier good line has an export with the id "${record.export}"`)
        if (found.endedBy !== null) throw new RecordError(found.endedBy)
        found.elements += 1
        requirePlace(found.elements)
        found.lastLine = line
      }
    },
    end: openExports.end,
    noteBad({ text, number }) {
      const claim = text === null ? 'unreadable' : claimedExport(text)
      if (claim === 'unreadable') {
        for (const broken of whole) broken.brokenBy ??= number
        whole = []
        return
      }
      const found = claim === null ? undefined : byId.get(claim.id)
      if (!found) return
      // From here on it is unclear to which of the two exports an element belongs.
      if (claim?.isHead) found.endedBy ??= `it may be an element of line ${number}, a bad export with the same id`
      else found.brokenBy ??= number
    },
  }
}
