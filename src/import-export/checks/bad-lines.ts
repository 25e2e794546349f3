// Which lines of a file are bad, however many are: a bit for each line, and the reasons of the first ones.

/** Bad lines that are told one by one. */
const MAX_REASONS = 100
const LINES_PER_PAGE = 65_536

export interface BadLine {
  readonly line: number
  readonly reason: string
}

export interface BadLines {
  readonly size: number
  readonly has: (line: number) => boolean
  /** In order. */
  readonly first: readonly BadLine[]
}

export interface BadLineCollector extends BadLines {
  /** A line that is known as bad keeps its reason. */
  readonly add: (line: number, reason: string) => void
}

export function createBadLines(): BadLineCollector {
  /** Those without a bad line are left out. */
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
