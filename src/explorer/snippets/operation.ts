// Which operation of a document a call runs, and what of the document it needs. By its brackets: a parser would be most of the first page.

export interface Operation {
  readonly name: string | null
  readonly isMutation: boolean
  /** Whether the first thing it does is to sign in. */
  readonly isLogin: boolean
  /** The operation with the fragments it reaches, as they are written; the whole document where it has one operation. */
  readonly text: string
  readonly isOneOfMany: boolean
}

interface Definition {
  readonly kind: string
  readonly name: string | null
  readonly text: string
  /** The same without what is in comments and strings. */
  readonly plain: string
}

/**
 * An end that is missing ends nothing: then no text is looked through twice. Groups are not repeated for each character: browsers
 * fail at that in a string of some megabytes.
 */
const HIDDEN = /"""(?:[^"\\]+|\\"""|\\|"(?!""))*(?:""")?|"(?:[^"\\\n]+|\\.)*"?|#[^\n]*/gs
const HEAD = /^\s*(query|mutation|subscription|fragment)?\b\s*([A-Z_]\w*)?/i
const SPREAD = /\.\.\.\s*(?!on\b)([A-Z_]\w*)/gi
const LOGIN = /^[^{]*\{\s*(?:\w+\s*:\s*)?login\b/

/** The one of this name; the first where there is none of it. A document with a mistake is one query. */
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
  // As long as the document: what is found in one is cut out of the other.
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
