// Indents JSON text without parsing it, so that every number and escape stays as the gateway sent it.
import { skipSpace, skipValue } from '../../json-text.ts'

/** Maximum length of a text that is indented, in characters; a longer text is shown unchanged. */
const LONGEST_INDENTED = 12_000_000
/** Maximum total length of all lines. Indentation makes short, deeply nested values many times longer. */
const LONGEST_LINES = 200_000_000

/** Returns null when the text is not JSON, or too long to indent. */
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

/**
 * Yields each bracket, comma, colon, string, number and word. It uses no regular expression, because browsers fail on
 * strings of some megabytes.
 */
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

/** Returns null for text that is not JSON. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The closing quote of a string is optional, so that no text is scanned twice. */
const PATTERN = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|true|false|null/g

/** Returns the coloured parts of a row as triples of from, to and kind. `from` is the offset of the row in the text. */
export function jsonTokens(row: string, from: number): readonly number[] {
  return [...row.matchAll(PATTERN)].flatMap(({ index, 0: text }) => {
    const end = index + text.length
    const kind = !text.startsWith('"') ? KINDS.number : row.startsWith(': ', end) ? KINDS.name : KINDS.string
    return [from + index, from + end, kind]
  })
}

/** The token kinds, for responses and for files. */
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
