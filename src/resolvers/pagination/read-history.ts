// A project may have thousands of exports, and a request asks for those of many projects: they are read in parts, and in turns.
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { ExportPage, StoredExport } from '../../store/contract.ts'

/** What an export takes beside its elements, in UTF-16 units. */
export const EXPORT_LENGTH = 512

/** Exports of a first part. Most histories are shorter. */
const FIRST_PART = 32
/** Exports that a first part counts as: those of up to 64 projects are then read in one turn, by one statement. */
const USUAL = 4
/** Exports of each part after it: some 0.6 ms of reading. */
const PART = 256

type ReadExports = (page: ExportPage) => Promise<readonly StoredExport[]>

/** All of a page, newest first. Each part is counted by `read` before the next is asked for. */
export async function readHistory(
  page: ExportPage,
  read: ReadExports,
  paceReading: Pace,
): Promise<readonly StoredExport[]> {
  const parts: (readonly StoredExport[])[] = []
  let rest = page
  for (let most = FIRST_PART; ; most = PART) {
    const limit = Math.min(rest.limit ?? most, most)
    await paceReading((most === FIRST_PART ? Math.min(limit, USUAL) : limit) * EXPORT_LENGTH)
    const part = await read({ ...rest, limit })
    parts.push(part)
    if (part.length < limit || rest.limit === limit) return page.fromEnd ? parts.reverse().flat() : parts.flat()
    rest = restOf(rest, part)
  }
}

/** What is older than the exports, or newer where the page begins at its end. */
function restOf(page: ExportPage, part: readonly StoredExport[]): ExportPage {
  const limit = page.limit === null ? null : page.limit - part.length
  if (page.fromEnd) return { ...page, limit, before: part[0] }
  return { ...page, limit, after: part.at(-1) ?? page.after }
}
