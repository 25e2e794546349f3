// Reads the bytes of an export, for REST and GraphQL: `[`, the elements joined by `,`, and `]`.
import { GatewayError } from '../../errors.ts'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { StoredExport } from '../../store/contract.ts'
import type { Reads } from '../reads/reads.ts'
import type { StreamedJson } from './raw-json.ts'

/** Services that reading an export needs. */
export interface ExportReading {
  readonly reads: Pick<Reads, 'elementRun'>
  readonly yieldTurn: YieldTurn
  readonly paceReading: Pace
}

/**
 * Target size of a page, for elements of average size. Larger pages are hardly faster, and block other requests for
 * longer.
 */
const PAGE_BYTES = 131_072
/** Maximum size of a page whose elements are longer than average. */
const MAX_PAGE_BYTES = PAGE_BYTES * 2
/** Maximum elements of a page: for tiny elements, the time grows with their number. */
const MAX_PAGE_ELEMENTS = 2_048

/** Up to this size an export is read as a whole, from the state that the session lookup saw. */
const SMALL_EXPORT_BYTES = 1_048_576

export type ExportBytes = Uint8Array | StreamedJson

/** All bytes of a small export; for a larger one, a stream that reads it page by page each time it is iterated. */
export function exportBytes(snapshot: StoredExport, context: ExportReading): Promise<ExportBytes> | StreamedJson {
  if (isReadWhole(snapshot)) return wholeExport(snapshot, context)
  return { byteLength: snapshot.byteLength, chunks: () => exportPages(snapshot, context) }
}

/** Whether an export is small enough to be read into memory as a whole. */
export function isReadWhole({ byteLength, elementCount }: StoredExport): boolean {
  return byteLength <= SMALL_EXPORT_BYTES && elementCount <= MAX_PAGE_ELEMENTS
}

async function wholeExport(
  { userId, id, digest, elementCount, byteLength }: StoredExport,
  { reads, paceReading }: ExportReading,
): Promise<Uint8Array> {
  if (elementCount === 0) return EMPTY
  await paceReading(byteLength)
  const all = { userId, exportId: id, digest, after: 0, maxElements: elementCount, maxBytes: byteLength }
  const run = await reads.elementRun(all)
  // The export was removed after it was found: neither the old nor the new state can be answered.
  if (run?.last !== elementCount) throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
  return Buffer.concat([OPENING, run.bytes, CLOSING])
}

/**
 * Yields the bytes in pages, each read in a turn of its own. The caller must have consumed a page before it asks for
 * the next, because the memory of the page is then released. Throws if the export is removed meanwhile.
 */
async function* exportPages(
  { userId, id, digest, elementCount, byteLength }: StoredExport,
  { reads, yieldTurn }: ExportReading,
): AsyncGenerator<Uint8Array> {
  const fitting = Math.floor((PAGE_BYTES * elementCount) / byteLength)
  const maxElements = Math.max(1, Math.min(fitting, MAX_PAGE_ELEMENTS))
  let after = 0
  while (after < elementCount) {
    await yieldTurn()
    const run = await reads.elementRun({ userId, exportId: id, digest, after, maxElements, maxBytes: MAX_PAGE_BYTES })
    // Aborts the response, so that the client sees a truncated body and not one that looks complete.
    if (!run) throw new Error('an export was removed while it was being sent')
    yield after === 0 ? OPENING : SEPARATOR
    yield run.bytes
    // Left to the garbage collector, hundreds of pages would accumulate, and each collection would take longer.
    releaseMemory(run.bytes)
    after = run.last
  }
  yield CLOSING
}

/** Releases the memory of the bytes at once, unless they are a slice of a larger buffer, such as Node's buffer pool. */
function releaseMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

const OPENING = Buffer.from('[')
const SEPARATOR = Buffer.from(',')
const CLOSING = Buffer.from(']')
const EMPTY = Buffer.from('[]')
