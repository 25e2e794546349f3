// Collects the bad lines of a file in bounded memory: one bit per line, and the reasons of the first ones.

/** Maximum number of bad lines that are reported with their reasons. */
const MAX_REASONS = 100
const LINES_PER_PAGE = 65_536

export interface BadLine {
  readonly line: number
  readonly reason: string
}

export interface BadLines {
  readonly size: number
  readonly has: (line: number) => boolean
  /** The first bad lines, in order. */
  readonly first: readonly BadLine[]
}

export interface BadLineCollector extends BadLines {
  /** Adds a line with its reason. A line that is already bad keeps its reason. */
  readonly add: (line: number, reason: string) => void
}

export function createBadLines(): BadLineCollector {
  /** Bitmap pages; pages without a bad line are absent. */
  const pages = new Map<number, Uint8Array>()
  const first: BadLine[] = []
  let size = 0

  function has(line: number): boolean {
    const at = line % LINES_PER_PAGE
    const byte = pages.get(Math.floor(line / LINES_PER_PAGE))?.[at >> 3] ?? 0
    return (byte & (1 << (at & 7))) !== 0
  }

  function mark(line: number): void {
    const pageNumber = Math.floor(line / LINES_PER_PAGE)
    const page = pages.get(pageNumber) ?? new Uint8Array(LINES_PER_PAGE / 8)
    pages.set(pageNumber, page)
    const at = line % LINES_PER_PAGE
    page[at >> 3] = (page[at >> 3] ?? 0) | (1 << (at & 7))
  }

  return {
    get size() {
      return size
    },
    has,
    first,
    add(line, reason) {
      if (has(line)) return
      mark(line)
      size += 1
      const behind = first.findLastIndex((one) => one.line < line)
      first.splice(behind + 1, 0, { line, reason })
      if (first.length > MAX_REASONS) first.pop()
    },
  }
}
