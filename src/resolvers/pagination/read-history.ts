// Reads or counts the export history of a project, over several turns: a history may have thousands of exports, and a
// request may ask for the histories of many projects.
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { ExportPage, ProjectRef, StoredExport } from '../../store/contract.ts'

/** UTF-16 units that an export counts for, without its elements. */
export const EXPORT_LENGTH = 512

/** Maximum number of exports in the first part. Most histories are shorter. */
const FIRST_PART = 32
/**
 * Exports that a first part counts as, and the number of a history too. One statement can then read those of up to 64
 * projects in one turn.
 */
const USUAL = 4
/** Maximum number of exports in each later part: some 0.6 ms of reading. */
const PART = 256

type ReadExports = (page: ExportPage) => Promise<readonly StoredExport[]>

/** All exports of a page, newest first. `read` charges each part to the budget before the next one is read. */
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

/** The number of exports in a history. Counting four thousand takes a tenth of a millisecond. */
export async function countHistory(
  project: ProjectRef,
  count: (project: ProjectRef) => Promise<number>,
  paceReading: Pace,
): Promise<number> {
  await paceReading(USUAL * EXPORT_LENGTH)
  return count(project)
}

/** The rest of the page after this part: older exports, or newer ones if the page is read from its end. */
function restOf(page: ExportPage, part: readonly StoredExport[]): ExportPage {
  const limit = page.limit === null ? null : page.limit - part.length
  if (page.fromEnd) return { ...page, limit, before: part[0] }
  return { ...page, limit, after: part.at(-1) ?? page.after }
}
