// Renders one row of a text with its colours and its search matches.
import type { ReactNode } from 'react'
import { type Found, firstAtLeast } from './find.ts'
import { jsonTokens, KIND_CLASSES } from './json-lines.ts'
import type { Sheet } from './sheet.ts'

interface RowProps {
  readonly sheet: Sheet
  readonly row: number
  readonly isJson: boolean
  readonly tokens: Uint32Array | null
  readonly found: Found
  /** Start offset of the current match. */
  readonly current: number
}

export function Row({ sheet, row, isJson, tokens, found, current }: RowProps): ReactNode {
  const [from, to] = [sheet.starts[row] ?? 0, sheet.ends[row] ?? 0]
  const colours = isJson ? jsonTokens(sheet.text.slice(from, to), from) : tokens ? tokensIn(tokens, from, to) : []
  const edges = new Set([from, to])
  for (const [index, offset] of colours.entries()) if (index % 3 !== 2) edges.add(clamp(offset, from, to))
  const marks = marksIn(found, from, to)
  for (const { start, end } of marks) edges.add(clamp(start, from, to)).add(clamp(end, from, to))
  const places = [...edges].sort((a, b) => a - b)
  let colour = 0
  return places.slice(0, -1).map((start, index) => {
    while (colour < colours.length && (colours[colour + 1] ?? 0) <= start) colour += 3
    const kind = (colours[colour] ?? Number.POSITIVE_INFINITY) <= start ? colours[colour + 2] : 0
    const text = sheet.text.slice(start, places[index + 1])
    const mark = marks.find((one) => one.start <= start && start < one.end)
    const part = kind ? <span className={KIND_CLASSES[kind]}>{text}</span> : text
    if (mark === undefined) return <span key={start}>{part}</span>
    return (
      <mark key={start} data-current={mark.start === current || undefined}>
        {part}
      </mark>
    )
  })
}

function tokensIn(tokens: Uint32Array, from: number, to: number): readonly number[] {
  const count = tokens.length / 3
  const first = firstAtLeast(count, (index) => tokens[index * 3 + 1] ?? 0, from + 1)
  const end = firstAtLeast(count, (index) => tokens[index * 3] ?? 0, to)
  return [...tokens.subarray(first * 3, end * 3)]
}

interface Mark {
  readonly start: number
  readonly end: number
}

function marksIn({ offsets, ends }: Found, from: number, to: number): readonly Mark[] {
  const first = firstAtLeast(ends.length, (index) => ends[index] ?? 0, from + 1)
  const last = firstAtLeast(offsets.length, (index) => offsets[index] ?? 0, to)
  return offsets.slice(first, last).map((start, index) => ({ start, end: ends[first + index] ?? start }))
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
