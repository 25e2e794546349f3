// Splits a text into rows to render: JSON is indented without being parsed, long lines are split, brackets can be
// folded.
import { firstAtLeast } from './find.ts'
import { jsonLines } from './json-lines.ts'

export interface Sheet {
  /** The displayed text; for JSON the indented form. */
  readonly text: string
  /** Start and end offset of each row in `text`. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  /** Line number of each row; 0 for the continuation of a split line. */
  readonly numbers: Uint32Array
  /** For each row, the row that closes the bracket it opens; 0 if it opens none. */
  readonly closes: Uint32Array
  /** Length of the longest row, in characters. */
  readonly width: number
}

/** Maximum characters per row: one line of a megabyte would freeze the browser. */
const LONGEST_ROW = 2_000

export function createSheet(source: string, isJson: boolean): Sheet {
  const text = (isJson ? jsonLines(source) : null)?.join('\n') ?? source
  const [starts, ends, numbers]: [number[], number[], number[]] = [[], [], []]
  let [at, line, width] = [0, 0, 0]
  while (at <= text.length) {
    const lineEnd = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at)
    line += 1
    let start = at
    do {
      const end = rowEnd(text, start, lineEnd)
      starts.push(start)
      ends.push(text[end - 1] === '\r' && end > start ? end - 1 : end)
      numbers.push(start === at ? line : 0)
      width = Math.max(width, end - start)
      start = end
    } while (start < lineEnd)
    at = lineEnd + 1
  }
  return {
    text,
    starts: Uint32Array.from(starts),
    ends: Uint32Array.from(ends),
    numbers: Uint32Array.from(numbers),
    closes: isJson ? closingRows(text, starts, ends, numbers) : new Uint32Array(starts.length),
    width,
  }
}

/** A row does not end between the two halves of a character, because each half would be shown as U+FFFD. */
function rowEnd(text: string, start: number, lineEnd: number): number {
  const end = start + LONGEST_ROW
  if (end >= lineEnd) return lineEnd
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end
}

/**
 * Indented JSON opens a bracket at the end of a line and closes it at the start of another. Only the first and the last
 * row of a split line count, because the edges of its other rows may be brackets inside a string.
 */
function closingRows(
  text: string,
  starts: readonly number[],
  ends: readonly number[],
  numbers: readonly number[],
): Uint32Array {
  const closes = new Uint32Array(starts.length)
  const open: number[] = []
  for (const [row, start] of starts.entries()) {
    const end = ends[row] ?? start
    if (numbers[row] !== 0) {
      let first = start
      while (first < end && text[first] === ' ') first += 1
      const opener = text[first] === '}' || text[first] === ']' ? open.pop() : undefined
      if (opener !== undefined) closes[opener] = row
    }
    const isLast = numbers[row + 1] !== 0
    if (isLast && (text[end - 1] === '{' || text[end - 1] === '[')) open.push(row)
  }
  return closes
}

/** The row that contains the offset. */
export function rowAt({ starts }: Sheet, offset: number): number {
  return firstAtLeast(starts.length, (row) => starts[row] ?? 0, offset + 1) - 1
}

/** The rows that are not inside a folded bracket. */
export function visibleRows({ starts, closes }: Sheet, folded: ReadonlySet<number>): Uint32Array {
  const rows = new Uint32Array(starts.length)
  let count = 0
  for (let row = 0; row < starts.length; row += 1) {
    rows[count] = row
    count += 1
    if (folded.has(row)) row = Math.max(row, (closes[row] ?? 0) - 1)
  }
  return rows.subarray(0, count)
}

/** The rows that open a non-empty bracket, except the outermost one. */
export function foldable({ closes }: Sheet): ReadonlySet<number> {
  const rows = new Set<number>()
  for (const [row, close] of closes.entries()) if (row > 0 && close > row + 1) rows.add(row)
  return rows
}

/** The name of a row: its line number from 1 and, in a split line, the index of the piece, such as `7.250`. */
export function lineOf(sheet: Sheet, row: number): string {
  const first = firstRowOf(sheet, row)
  const line = String(sheet.numbers[first] ?? 1)
  return first === row ? line : `${line}.${row - first}`
}

/** The lines inside the bracket that the row opens: the number of the first, and their count. */
export function linesInside(sheet: Sheet, row: number): { readonly from: number; readonly count: number } {
  const { numbers, closes } = sheet
  const from = (numbers[firstRowOf(sheet, row)] ?? 0) + 1
  return { from, count: (numbers[closes[row] ?? row] ?? from) - from }
}

/** The first row of the line to which the row belongs. */
function firstRowOf({ numbers }: Sheet, row: number): number {
  let first = row
  while (first > 0 && numbers[first] === 0) first -= 1
  return first
}

/** The row with this name; row 0 if the name is invalid or unknown. */
export function rowOfLine({ numbers }: Sheet, name: string): number {
  const [, line, piece = '0'] = /^([1-9]\d{0,8})(?:\.(\d{1,8}))?$/.exec(name) ?? []
  const row = line === undefined ? -1 : numbers.indexOf(Number(line))
  return row === -1 ? 0 : Math.min(row + Number(piece), numbers.length - 1)
}
