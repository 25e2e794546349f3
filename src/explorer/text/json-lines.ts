// JSON text as indented lines, without parsing it: every number and escape stays as it was answered.
import { skipSpace, skipValue } from '../../json-text.ts'

/** A longer text is shown as it came. */
const LONGEST_INDENTED = 12_000_000
/** Of all lines together: short values deep inside others are many times as long when they are indented. */
const LONGEST_LINES = 200_000_000

/** Null when the text is not JSON, or too long to be indented. */
export function jsonLines(text: string): readonly string[] | null {
  if (text.length > LONGEST_INDENTED || !isJson(text)) return null
  const lines: string[] = []
  let line = ''
  let [depth, length] = [0, 0]
  function breakLine(): void {
    lines.push(line)
    length += line.length
    line = '  '.repeat(Math.min(depth, 40))
  }
  for (const token of tokensOf(text)) {
    if (length > LONGEST_LINES) return null
    if (token === '}' || token === ']') {
      depth -= 1
      const isEmpty = line.endsWith(token === '}' ? '{' : '[')
      if (!isEmpty) breakLine()
      line += token
    } else if (token === ',') {
      line += token
      breakLine()
    } else if (token === ':') {
      line += ': '
    } else {
      if (/[{[]$/.test(line)) breakLine()
      line += token
      if (token === '{' || token === '[') depth += 1
    }
  }
  breakLine()
  return lines
}

/** Each bracket, comma and colon, and each string, number or word. By no regular expression: browsers fail in a string of some megabytes. */
function* tokensOf(json: string): Generator<string> {
  for (let at = skipSpace(json, 0); at < json.length; ) {
    const end = '{}[],:'.includes(json[at] ?? '') ? at + 1 : skipValue(json, at)
    yield json.slice(at, end)
    at = skipSpace(json, end)
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A string that is not closed matches too, so that no text is looked at twice. */
const PATTERN = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|true|false|null/g

/** The parts of a row that have a colour, as triples: from, to, kind. */
export function jsonTokens(row: string, from: number): readonly number[] {
  return [...row.matchAll(PATTERN)].flatMap(({ index, 0: text }) => {
    const end = index + text.length
    const kind = !text.startsWith('"') ? KINDS.number : row.startsWith(': ', end) ? KINDS.name : KINDS.string
    return [from + index, from + end, kind]
  })
}

/** What a colour stands for, in answers and in files. */
export const KINDS = {
  keyword: 1,
  string: 2,
  comment: 3,
  number: 4,
  name: 5,
  type: 6,
  function: 7,
  heading: 8,
} as const
export const KIND_CLASSES: readonly string[] = ['', ...Object.keys(KINDS).map((kind) => `t-${kind}`)]
