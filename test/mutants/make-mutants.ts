// Makes every small change of a source file that a test should notice, and of the SQL in it.
import { parseSync } from 'vite'
import { INTERPOLATED, makeSqlMutants } from './make-sql-mutants.ts'

export interface Mutant {
  readonly kind: MutantKind
  /** UTF-16 offsets of the text that is replaced. */
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** An offset that is executed whenever the replaced text matters: V8 counts what follows `??` separately. */
  readonly cameTo: number
}

interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly operator?: string
  readonly value?: unknown
  readonly test?: SyntaxNode | null
  readonly left?: SyntaxNode
  readonly right?: SyntaxNode
  readonly argument?: SyntaxNode
  readonly expression?: SyntaxNode
  readonly expressions?: readonly SyntaxNode[]
}

/** `sql` is a change inside an SQL text. */
export type MutantKind = 'code' | 'sql'

/** Elsewhere is no SQL. */
const SQL_FOLDER = 'src/store/'

const OTHER_OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}

/** In the order of the text. Types, imports and messages are not changed. */
export function makeMutants(file: string, source: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed`)
  const mutants: Mutant[] = []
  visit(program, (node) => {
    mutants.push(...mutantsOf(node, source))
    if (file.startsWith(SQL_FOLDER) && isText(node)) mutants.push(...sqlMutantsOf(node, source))
  })
  return mutants.toSorted((a, b) => a.start - b.start)
}

function visit(value: unknown, see: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, see)
  } else if (typeof value === 'object' && value !== null) {
    if (isNode(value)) {
      if (value.type.startsWith('TS') && value.type !== 'TSAsExpression' && value.type !== 'TSSatisfiesExpression')
        return
      see(value)
    }
    for (const item of Object.values(value)) visit(item, see)
  }
}

function isNode(value: object): value is SyntaxNode {
  return typeof Reflect.get(value, 'type') === 'string' && typeof Reflect.get(value, 'start') === 'number'
}

function mutantsOf(node: SyntaxNode, source: string): readonly Mutant[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return withOtherOperator(node, source)
    case 'IfStatement':
    case 'ConditionalExpression':
      return node.test ? [replace(node.test, 'true'), replace(node.test, 'false')] : []
    case 'Literal':
      return typeof node.value === 'boolean' ? [replace(node, String(!node.value))] : []
    case 'UnaryExpression':
      return node.operator === '!' && node.argument
        ? [replace(node, source.slice(node.argument.start, node.argument.end))]
        : []
    case 'ExpressionStatement':
      return isCall(node.expression) ? [replace(node, ';')] : []
    default:
      return []
  }
}

function withOtherOperator({ start, left, right, operator = '' }: SyntaxNode, source: string): readonly Mutant[] {
  const other = OTHER_OPERATORS[operator]
  if (!other || !left || !right || isText(left) || isText(right)) return []
  const at = source.indexOf(operator, left.end)
  return at === -1 || at >= right.start
    ? []
    : [{ kind: 'code', start: at, end: at + operator.length, replacement: other, cameTo: start }]
}

function sqlMutantsOf({ start, end, expressions = [] }: SyntaxNode, source: string): readonly Mutant[] {
  const text = source.slice(start + 1, end - 1)
  let masked = text
  for (const expression of expressions) {
    const from = source.lastIndexOf('${', expression.start) - start - 1
    const to = source.indexOf('}', expression.end) - start
    masked = masked.slice(0, from) + INTERPOLATED.repeat(to - from) + masked.slice(to)
  }
  return makeSqlMutants(masked, text).map((mutant) => ({
    kind: 'sql',
    start: start + 1 + mutant.start,
    end: start + 1 + mutant.end,
    replacement: mutant.replacement,
    cameTo: start,
  }))
}

/** A joined text is a message; without its plus it is nonsense that nobody would write. */
function isText({ type, value }: SyntaxNode): boolean {
  return type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string')
}

function isCall(node: SyntaxNode | undefined): boolean {
  return node?.type === 'CallExpression' || (node?.type === 'AwaitExpression' && isCall(node.argument))
}

function replace({ start, end }: SyntaxNode, replacement: string): Mutant {
  return { kind: 'code', start, end, replacement, cameTo: start }
}
