// Indents a query, variables or headers. Comments stay, which GraphQL's own printer leaves out, and so does every number.
import { parse, print, type Token, TokenKind } from 'graphql'
import { jsonLines } from '../../text/json-lines.ts'

/** Throws while the query has a syntax error. */
export function prettified(query: string): string {
  const printed = print(parse(query))
  const tokens = tokensOf(query)
  const comments = tokens.filter(isComment)
  if (comments.length === 0) return printed
  const text = withComments(printed, tokens)
  const written = tokensOf(text)
  // A line of the printed query may begin or end within a string.
  const isWhole =
    areSame(written.filter(isComment), comments) && areSame(written.filter(isNoComment), tokensOf(printed))
  return isWhole ? text : query
}

/** Text that is not JSON stays as it is. */
export function prettifiedJson(text: string): string {
  return jsonLines(text)?.join('\n') ?? text
}

export function hasComments(query: string): boolean {
  return tokensOf(query).some(isComment)
}

/** The tokens of a query and its comments, up to the token for its end. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (let token = parse(text).loc?.startToken.next ?? null; token !== null; token = token.next) tokens.push(token)
  return tokens
}

function isComment({ kind }: Token): boolean {
  return kind === TokenKind.COMMENT
}

function isNoComment(token: Token): boolean {
  return !isComment(token)
}

function areSame(some: readonly Token[], others: readonly Token[]): boolean {
  return some.length === others.length && some.every((token, index) => isSame(token, others[index]))
}

function isSame(one: Token, other: Token | undefined): boolean {
  return one.kind === other?.kind && one.value === other.value
}

interface Line {
  readonly above: string[]
  readonly text: string
  comment: string
}

/** Writes a comment at the end of the line of the token before it, or else above the line of the token after it. */
function withComments(printed: string, tokens: readonly Token[]): string {
  // The last one stands for what follows the query.
  const lines: Line[] = [...printed.split('\n'), ''].map((text) => ({ above: [], text, comment: '' }))
  const places = tokensOf(printed)
  let index = 0
  for (const token of tokens) {
    const next = places[index]
    if (isNoComment(token)) {
      // Printing leaves out a few tokens, such as the `query` of a query without a name.
      if (isSame(token, next)) index += 1
      continue
    }
    const before = places[index - 1]
    const isBeside = before !== undefined && token.prev?.line === token.line
    const lineNumber = isBeside ? before.line : next?.kind === TokenKind.EOF ? lines.length : (next?.line ?? 1)
    const comment = `#${token.value}`
    const [line, below] = lines.slice(lineNumber - 1)
    if (line?.comment === '' && isBeside) line.comment = ` ${comment}`
    else if (line?.comment === '') line.above.push(indentOf(line.text) + comment)
    else below?.above.push(indentOf(below.text) + comment)
  }
  return lines
    .flatMap(({ above, text, comment }) => [...above, text + comment])
    .join('\n')
    .trimEnd()
}

/** What stands above the end of a block belongs into the block. */
function indentOf(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? ''
  return line.trim() === '}' ? `${indent}  ` : indent
}
