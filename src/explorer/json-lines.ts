// JSON text as indented lines, without parsing it: every number and escape stays as it was answered.

/** A longer text is shown as it came. */
const LONGEST_INDENTED = 8_000_000
const LONGEST_LINE = 20_000

export function jsonLines(text: string): readonly string[] {
  if (text.length > LONGEST_INDENTED || !isJson(text)) return textLines(text)
  const lines: string[] = []
  let line = ''
  let depth = 0
  function breakLine(): void {
    lines.push(...inPieces(line))
    line = '  '.repeat(depth)
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

export function textLines(text: string): readonly string[] {
  return text.split('\n').flatMap(inPieces)
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** One line of a megabyte would stop the browser. */
function inPieces(line: string): readonly string[] {
  if (line.length <= LONGEST_LINE) return [line]
  return Array.from({ length: Math.ceil(line.length / LONGEST_LINE) }, (_, index) =>
    line.slice(index * LONGEST_LINE, (index + 1) * LONGEST_LINE),
  )
}

export interface Token {
  readonly kind: 'name' | 'string' | 'value' | 'plain'
  readonly text: string
}

/** The parts of a line, for colouring. */
export function tokensOf(line: string): readonly Token[] {
  // A string that is not closed matches too, so that no text is looked at twice.
  const pattern = /"(?:[^"\\]|\\.)*("?)|-?\d[\d.eE+-]*|true|false|null/g
  const tokens: Token[] = []
  let end = 0
  for (const match of line.matchAll(pattern)) {
    if (match.index > end) tokens.push({ kind: 'plain', text: line.slice(end, match.index) })
    const [text, closingQuote] = match
    end = match.index + text.length
    const kind =
      closingQuote === undefined
        ? 'value'
        : closingQuote === ''
          ? 'plain'
          : line.startsWith(': ', end)
            ? 'name'
            : 'string'
    tokens.push({ kind, text })
  }
  if (end < line.length) tokens.push({ kind: 'plain', text: line.slice(end) })
  return tokens
}
