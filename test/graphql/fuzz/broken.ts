// Breaks a valid operation at random: tokens that are missing, repeated, exchanged or out of place, and variables whose
// values do not fit.
import { Lexer, Source, TokenKind } from 'graphql'
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Operation } from './oracle.ts'

/** No mutation is among them: it would end sessions that other documents need. */
const INSERTED = [
  ...['name', 'id', 'me', 'nodes', 'on', 'query', 'fragment', 'true', 'null', 'Project', 'Node', 'F0', '$a0', '$nope'],
  ...['1', '-0', '1.5', '99999999999', '01', '1.', '"x"', '"', '"""', '"\\u{1F600}"', '"\\uD83D"', '"""a\n  b"""'],
  ...['{', '}', '(', ')', '[', ']', ':', '=', '!', '|', '&', '...', '..', '?', '%', '{ }', '()', '[1, null]', '{a: 1}'],
  ...['@skip', '@skip(if: null)', '@skip(if: "true")', '@skip(if: true) @skip(if: true)', '@nope', '@deprecated'],
  ...['(first: 1)', '(first: "1")', '(id: 1)', '(nope: 1)', '...Nope', '... on Nope { x }', '... on String { x }'],
  ...['query Again { me { id } }', 'query Again($a: Int, $a: Nope) { me { id } }', 'subscription { me { id } }'],
  ...[
    'fragment Loop on User { id ...Loop }',
    'fragment Other on Int { x }',
    'type Own { a: Int }',
    '"said"',
    '$v: Int',
  ],
]
const SEPARATORS = [' ', ' ', '\n', '\r', '\r\n', ',', '\t', ' # "}\n', '\uFEFF']
const STRANGE = [null, 0, 1.5, 2 ** 31, 1e21, '', '1', 'é', true, [], [null], [['x']], {}, { a: 1 }]
const OTHER_NAMES = ['nope', 'toString', '__proto__']

export function breakOperation({ document, operationName, variables }: Operation, random: SeededRandom): Operation {
  const { below } = random
  const strange = Object.entries(variables).map(([name, value]) => {
    return [name, below(4) === 0 ? STRANGE[below(STRANGE.length)] : value]
  })
  return {
    document: breakDocument(document, random),
    operationName: below(20) === 0 ? OTHER_NAMES[below(OTHER_NAMES.length)] : operationName,
    variables: Object.fromEntries(strange.filter(() => below(8) > 0)),
    isBroken: true,
  }
}

/** Also writes other separators between the tokens, which changes nothing but locations. */
function breakDocument(document: string, { below }: SeededRandom): string {
  const tokens = tokensOf(document)
  const edits = [
    (at: number) => tokens.splice(at, 1),
    (at: number) => tokens.splice(at, 0, tokens[at] ?? ''),
    (at: number) => tokens.splice(at, 0, ...tokens.splice(below(tokens.length), 1)),
    (at: number) => tokens.splice(at, 0, INSERTED[below(INSERTED.length)] ?? ''),
    (at: number) => tokens.splice(at, 1, INSERTED[below(INSERTED.length)] ?? ''),
  ]
  for (let count = below(4); count > 0; count -= 1) edits[below(edits.length)]?.(below(tokens.length))
  return tokens.map((token) => token + SEPARATORS[below(SEPARATORS.length)]).join('')
}

function tokensOf(document: string): string[] {
  const lexer = new Lexer(new Source(document))
  const tokens: string[] = []
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens.push(document.slice(token.start, token.end))
  }
  return tokens
}
