// Tests how a text is split into rows: which brackets of JSON fold, how many lines they hold, how long strings split.
import { describe, expect, test } from 'vitest'
import { createSheet, foldable, linesInside, type Sheet, visibleRows } from '../../src/explorer/text/sheet.ts'

/** The length of a row in characters; each row but the first begins at a multiple of it. */
const ROW = 2_000
/** The length of the text before the value of `long` in its line. */
const BEFORE = '  "long": "'.length

describe.each(['{', '[', '}', ']'])('a string that is split into rows at a %s', (bracket) => {
  test.each([
    ['before', ROW - BEFORE - 1],
    ['after', ROW - BEFORE],
  ])('adds no fold if the bracket is %s the split', (_where, at) => {
    const long = `${'x'.repeat(at)}${bracket}${'y'.repeat(2 * ROW - 10)}`
    const sheet = createSheet(JSON.stringify({ first: { a: 1, b: 2 }, long, last: [1, 2, 3] }), true)
    expect(insides(sheet)).toEqual([
      ['{', 10],
      ['  "first": {', 2],
      ['  "last": [', 3],
    ])
    const folded = visibleRows(sheet, foldable(sheet))
    expect([...folded].map((row) => textOf(sheet, row).trim().slice(0, 7))).toEqual([
      '{',
      '"first"',
      '},',
      '"long":',
      expect.stringMatching(/^.{1,7}$/),
      expect.stringMatching(/^.{1,7}$/),
      '"last":',
      ']',
      '}',
    ])
  })
})

test.each([
  ['x', [1_999, 2_000, 2_000, 501]],
  ['', [2_000, 2_000, 2_000, 499]],
  ['xx', [2_000, 2_000, 2_000, 501]],
])('a long line is split between characters, not inside one, after %j', (before, lengths) => {
  const line = `${before}${'😀'.repeat(3_249)}x`
  const sheet = createSheet(line, false)
  const rows = [...sheet.starts.keys()].map((row) => textOf(sheet, row))
  expect(rows.map((row) => row.length)).toEqual(lengths)
  expect(rows.every((row) => row.isWellFormed())).toBe(true)
  expect(rows.join('') === line).toBe(true)
})

test('empty lines are rows, also at the beginning and at the end', () => {
  const sheet = createSheet('\na\n\n', false)
  expect([...sheet.starts.keys()].map((row) => textOf(sheet, row))).toEqual(['', 'a', '', ''])
  expect([...sheet.numbers]).toEqual([1, 2, 3, 4])
})

test("an object with a name longer than a row folds from the name's last row, and counts lines, not rows", () => {
  const sheet = createSheet(JSON.stringify({ [`${'n'.repeat(2 * ROW)}`]: { a: 'v'.repeat(5 * ROW), b: 2 } }), true)
  const [outer, inner] = [...sheet.closes.entries()].filter(([, close]) => close > 0)
  expect(linesInside(sheet, outer?.[0] ?? -1)).toEqual({ from: 2, count: 4 })
  expect(linesInside(sheet, inner?.[0] ?? -1)).toEqual({ from: 3, count: 2 })
  expect(textOf(sheet, inner?.[0] ?? -1)).toMatch(/": \{$/)
  expect(textOf(sheet, inner?.[1] ?? -1)).toBe('  }')
})

test.each(['A', '\\n', '\\"', '\\\\'])('JSON with a string of 11,000,000 characters %j is indented', (part) => {
  const long = `"${part.repeat(11_000_000 / part.length)}"`
  const { text } = createSheet(`{"first":1.0, "long" :${long},"last":[ ]}`, true)
  expect(text.split('\n').map((line) => line.replace(long, 'LONG'))).toEqual([
    '{',
    '  "first": 1.0,',
    '  "long": LONG,',
    '  "last": []',
    '}',
  ])
})

test('JSON that would become many times longer with indentation is shown unchanged', () => {
  const [depth, count] = [60, 2_900_000]
  const source = `${'['.repeat(depth)}${'[0],'.repeat(count)}0${']'.repeat(depth)}`
  expect(createSheet(source, true).text === source).toBe(true)
})

/** The brackets that fold: the text of each row and the number of lines inside. */
function insides(sheet: Sheet): readonly (readonly [text: string, count: number])[] {
  return [...sheet.closes.keys()]
    .filter((row) => (sheet.closes[row] ?? 0) > 0)
    .map((row) => [textOf(sheet, row), linesInside(sheet, row).count])
}

function textOf({ text, starts, ends }: Sheet, row: number): string {
  return text.slice(starts[row], ends[row])
}
