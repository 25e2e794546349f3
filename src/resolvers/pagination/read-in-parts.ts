// Reads lists that may be long in parts. A short list takes a single read.
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { Page, PageWithin } from '../../store/contract.ts'
import type { HeldPart } from '../reads/request-reads.ts'
import { type NextPage, type Paged, toPaged } from './paged.ts'

/** Maximum UTF-8 bytes of one part: less than a millisecond of reading. */
export const PART_BYTES = 131_072

interface Positioned {
  readonly position: number
  readonly text: string
}

export type ReadPart<T> = (page: PageWithin) => Promise<HeldPart<T>>

/**
 * The items of a short list, or the pages of a longer one, each released before the next is read. Only the first part
 * is read without waiting for the turn quota.
 */
export async function readInParts<T extends Positioned>(
  page: Page,
  read: ReadPart<T>,
  paceReading: Pace,
): Promise<readonly T[] | Paged<T>> {
  const first = await read({ ...page, maxBytes: PART_BYTES })
  return first.isCut ? toPaged(pagesFrom(page, first, read, paceReading)) : first.items
}

function pagesFrom<T extends Positioned>(
  page: Page,
  first: HeldPart<T>,
  read: ReadPart<T>,
  paceReading: Pace,
): NextPage<T> {
  let unused: HeldPart<T> | null = first
  let rest: Page | null = page
  let letGo: (() => void) | null = null

  async function readNext(of: Page): Promise<HeldPart<T>> {
    await paceReading(PART_BYTES)
    return read({ ...of, maxBytes: PART_BYTES })
  }

  return async () => {
    letGo?.()
    letGo = null
    if (!rest) return null
    const part = unused ?? (await readNext(rest))
    unused = null
    letGo = part.letGo
    rest = part.isCut ? restOf(rest, part.items) : null
    return part.items
  }
}

/** All items of a page in memory, in list order. Reads them in parts as above, from the end where the page begins. */
export async function readWhole<T extends Positioned>(
  page: Page,
  read: ReadPart<T>,
  paceReading: Pace,
): Promise<readonly T[]> {
  const parts: (readonly T[])[] = []
  let rest: Page = page
  for (;;) {
    const { items, isCut } = await read({ ...rest, maxBytes: PART_BYTES })
    parts.push(items)
    if (!isCut) return page.fromEnd ? parts.reverse().flat() : parts.flat()
    rest = restOf(rest, items)
    await paceReading(PART_BYTES)
  }
}

/** The rest of the page: after these items, or before them if the page is read from its end. */
function restOf<T extends Positioned>(page: Page, items: readonly T[]): Page {
  const limit = page.limit === null ? null : page.limit - items.length
  if (page.fromEnd) return { ...page, limit, before: items[0]?.position }
  return { ...page, limit, after: items.at(-1)?.position ?? page.after }
}
