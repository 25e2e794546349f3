// The bytes of an export, for REST and GraphQL alike: `[` + the elements joined by `,` + `]`.
import { GatewayError } from '../../errors.ts'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { StoredExport } from '../../store/contract.ts'
import type { Reads } from '../reads/reads.ts'
import type { StreamedJson } from './raw-json.ts'

/** What reading an export needs. */
export interface ExportReading {
  readonly reads: Pick<Reads, 'elementRun'>
  readonly yieldTurn: YieldTurn
  readonly paceReading: Pace
}

/** Of elements of average size. Larger ones read and send little faster, and hold up others for longer. */
const PAGE_BYTES = 131_072
/** A page of elements that are longer than the average is cut here. */
const MAX_PAGE_BYTES = PAGE_BYTES * 2
/** A page of tiny elements costs time by their number. */
const MAX_PAGE_ELEMENTS = 2_048

/** Up to this size an export is read at once, from the state its session was looked up in. */
const SMALL_EXPORT_BYTES = 1_048_576

export type ExportBytes = Uint8Array | StreamedJson

/** Whole where the export is small; else a stream that reads it page by page, as often as it is gone through. */
export function exportBytes(snapshot: StoredExport, context: ExportReading): Promise<ExportBytes> | StreamedJson {
  if (isReadWhole(snapshot)) return wholeExport(snapshot, context)
  return { byteLength: snapshot.byteLength, chunks: () => exportPages(snapshot, context) }
}

/** Whether the bytes of an export are in memory all at once. */
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
  // Removed since it was found: neither what it was nor what is there now.
  if (run?.last !== elementCount) throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
  return Buffer.concat([OPENING, run.bytes, CLOSING])
}

/** In pages, each in a turn of its own. Each is to be used before the next is asked for. Throws when the export is removed. */
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
    // The client sees a body that is too short, not one that looks whole.
    if (!run) throw new Error('an export was removed while it was being sent')
    yield after === 0 ? OPENING : SEPARATOR
    yield run.bytes
    // Left to the garbage collector, hundreds of pages would lie there, and each collection take its time.
    giveBack(run.bytes)
    after = run.last
  }
  yield CLOSING
}

/** Not those of a piece of a pool. */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

const OPENING = Buffer.from('[')
const SEPARATOR = Buffer.from(',')
const CLOSING = Buffer.from(']')
const EMPTY = Buffer.from('[]')
