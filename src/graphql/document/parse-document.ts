// Parses a document within limits: a text that is too large or nests too deeply is a syntax error.
import { type DocumentNode, GraphQLError, Lexer, parse, Source, syntaxError, type Token, TokenKind } from 'graphql'

/** Maximum length in UTF-16 units. The largest documents that front ends send are a tenth of it. */
const MAX_LENGTH = 65_536
const MAX_COMMENTS = 1_000
/**
 * More lines than the allowed tokens and comments can fill. graphql-js counts lines anew for each error that it finds.
 */
const MAX_LINES = 5_000
/** GraphiQL's introspection query has some 300 tokens. */
const MAX_TOKENS = 2_000
/** Levels of nested selections, lists and objects. The parser and all code that walks a document recurse. */
const MAX_NESTING = 200
const MAX_NAME_LENGTH = 256

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** Throws a `GraphQLError` with the location of the error. */
export function parseDocument(text: string | Source): DocumentNode {
  const source = typeof text === 'string' ? new Source(text) : text
  if (source.body.length > MAX_LENGTH) {
    throw syntaxError(source, 0, `The document has more than ${MAX_LENGTH} characters.`)
  }
  requireModestTokens(source)
  return parse(source, {
    maxLexicalTokens: MAX_TOKENS,
    maxComments: MAX_COMMENTS,
    // graphql-js accepts `{ }` otherwise, against the specification ("Selection Sets"). A login that selects nothing would
    // open a session that nobody can use.
    allowEmptySelectionSets: false,
  })
}

/**
 * Checks the tokens in one pass, before any code recurses. It stops after `MAX_TOKENS`; the parser refuses the excess.
 */
function requireModestTokens(source: Source): void {
  const lexer = new Lexer(source)
  let depth = 0
  for (let count = 0; count <= MAX_TOKENS; count += 1) {
    const token = nextToken(lexer)
    if (!token) return
    const { kind, start, end, line } = token
    if (line > MAX_LINES) throw syntaxError(source, start, `The document has more than ${MAX_LINES} lines.`)
    if (kind === TokenKind.EOF) return
    if (kind === TokenKind.NAME && end - start > MAX_NAME_LENGTH) {
      throw syntaxError(source, start, `A name has more than ${MAX_NAME_LENGTH} characters.`)
    }
    if (OPENING.has(kind)) depth += 1
    else if (CLOSING.has(kind)) depth -= 1
    if (depth > MAX_NESTING) throw syntaxError(source, start, `The document nests more than ${MAX_NESTING} levels.`)
  }
}

/** Returns null for a malformed token. The parser reports it, or a mistake before it. */
function nextToken(lexer: Lexer): Token | null {
  try {
    return lexer.advance()
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
  }
}
