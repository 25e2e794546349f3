// Finds the operation that a call runs, and the fragments that it needs. It matches brackets instead of parsing,
// because a GraphQL parser would be most of the first page's code.

export interface Operation {
  readonly name: string | null
  readonly isMutation: boolean
  /** Whether its first field is `login`. */
  readonly isLogin: boolean
  /** Source text of the operation and the fragments it reaches; the whole document if it has only one operation. */
  readonly text: string
  readonly isOneOfMany: boolean
}

interface Definition {
  readonly kind: string
  readonly name: string | null
  readonly text: string
  /** The text with comments and strings replaced by spaces. */
  readonly plain: string
}

/**
 * Matches strings and comments. The closing quotes are optional, so no text is scanned twice. The repeated groups
 * consume many characters at once, because browsers fail on a group that is repeated for each character of a string of
 * some megabytes.
 */
const HIDDEN = /"""(?:[^"\\]+|\\"""|\\|"(?!""))*(?:""")?|"(?:[^"\\\n]+|\\.)*"?|#[^\n]*/gs
const HEAD = /^\s*(query|mutation|subscription|fragment)?\b\s*([A-Z_]\w*)?/i
const SPREAD = /\.\.\.\s*(?!on\b)([A-Z_]\w*)/gi
const LOGIN = /^[^{]*\{\s*(?:\w+\s*:\s*)?login\b/

/** Returns the operation with this name, or else the first one. An invalid document counts as one query. */
export function operationIn(document: string, name: string | null): Operation {
  const definitions = definitionsOf(document)
  const operations = definitions.filter(({ kind }) => kind !== 'fragment')
  const found = operations.find((operation) => name !== null && operation.name === name) ?? operations[0]
  const isOneOfMany = operations.length > 1
  return {
    name: found?.name ?? null,
    isMutation: found?.kind === 'mutation',
    isLogin: found?.kind === 'mutation' && LOGIN.test(found.plain),
    text: found && isOneOfMany ? reached(found, definitions) : document,
    isOneOfMany,
  }
}

function reached(operation: Definition, definitions: readonly Definition[]): string {
  const wanted = new Set([operation])
  for (const { plain } of wanted) {
    const spread = new Set([...plain.matchAll(SPREAD)].map(([, name]) => name))
    for (const one of definitions) if (one.kind === 'fragment' && spread.has(one.name ?? '')) wanted.add(one)
  }
  return [...wanted].map(({ text }) => text.trim()).join('\n\n')
}

function definitionsOf(document: string): readonly Definition[] {
  // Has the same length as the document, so that positions in one are valid in the other.
  const plain = document.replace(HIDDEN, (hidden) => ' '.repeat(hidden.length))
  const definitions: Definition[] = []
  let depth = 0
  let start = 0
  for (const { 0: bracket, index } of plain.matchAll(/[()[\]{}]/g)) {
    depth += '([{'.includes(bracket) ? 1 : -1
    if (bracket !== '}' || depth !== 0) continue
    const part = plain.slice(start, index + 1)
    const [, kind = 'query', name = null] = HEAD.exec(part) ?? []
    definitions.push({ kind, name, text: document.slice(start, index + 1), plain: part })
    start = index + 1
  }
  return definitions
}
