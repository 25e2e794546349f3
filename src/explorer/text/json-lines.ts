// JSON text as indented lines, without parsing it: every number and escape stays as it was answered.

/** A longer text is shown as it came. */
const LONGEST_INDENTED = 12_000_000

/** Null when the text is not JSON, or too long to be indented. */
export function jsonLines(text: string): readonly string[] | null {
  if (text.length > LONGEST_INDENTED || !isJson(text)) return null
  const lines: string[] = []
  let line = ''
  let depth = 0
  function breakLine(): void {
    lines.push(line)
    line = '  '.repeat(Math.min(depth, 40))
  }
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
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
