// Adds and removes fields and arguments in the text of a query; all other text keeps its bytes, including comments.
import {
  type ArgumentNode,
  type ASTNode,
  type DefinitionNode,
  type FieldNode,
  type GraphQLArgument,
  isRequiredArgument,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import type { Branch } from './schema-branches.ts'

/** A document as text, and the operation in it that is edited. */
export interface Edited {
  readonly text: string
  /** Null when the document has no operation of the requested type. */
  readonly operation: OperationDefinitionNode | null
  readonly definitions: readonly DefinitionNode[]
}

interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

type Parent = OperationDefinitionNode | SelectionNode

/** Returns null when the text is not valid GraphQL. A text that contains only comments is an empty document. */
export function readQuery(text: string, operationType: string): Edited | null {
  try {
    const isEmpty = text.replace(/#.*/g, '').trim() === ''
    const definitions = isEmpty ? [] : parse(text).definitions
    const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    return { text, operation: operations.find(({ operation }) => operation === operationType) ?? null, definitions }
  } catch {
    return null
  }
}

/** Returns the selection at the end of the path of branches; null when it is not selected. */
export function selectionAt(edited: Edited, path: readonly Branch[]): SelectionNode | null {
  return path.length > 0 && walk(edited, path).length === path.length + 1
    ? (walk(edited, path).at(-1) as SelectionNode)
    : null
}

export function argumentAt(selection: SelectionNode | null, name: string): ArgumentNode | null {
  const given = selection?.kind === Kind.FIELD ? selection.arguments : undefined
  return given?.find((node) => node.name.value === name) ?? null
}

/** Returns the text with the field at the end of the path added. Its required arguments become variables. */
export function withField(edited: Edited, operationType: string, path: readonly Branch[]): string {
  const found = walk(edited, path)
  const missing = path.slice(Math.max(0, found.length - 1))
  const variables = new Map<string, GraphQLArgument>()
  const parent = found.at(-1)
  const depth = path.length - missing.length + 1
  const written = fieldText(missing, depth, variables)
  if (!parent) return withOperation(edited, operationType, `${definitionsText(variables)} {\n${written}\n}\n`)
  return spliced(edited.text, [inserted(edited.text, parent, written, depth), ...defined(edited, variables)])
}

/**
 * Appends an operation. Beside other operations it gets a name, and so do those without one, because GraphQL refuses
 * an anonymous operation that is not alone.
 */
function withOperation({ text, definitions }: Edited, operationType: string, content: string): string {
  const others = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
  const names = new Set(others.map(({ name }) => name?.value))
  const splices = others
    .filter(({ name }) => name === undefined)
    .map((node) => atHead(node, ` ${addName(names, node.operation)}`))
  const head = others.length > 0 ? `${operationType} ${addName(names, operationType)}` : operationType
  const before = spliced(text, splices).trimEnd()
  return `${before}${before === '' ? '' : '\n\n'}${head}${content}`
}

/** Returns a name like `MyQuery`, and adds it to the names. */
function addName(names: Set<string | undefined>, operationType: string): string {
  const base = `My${operationType.charAt(0).toUpperCase()}${operationType.slice(1)}`
  let name = base
  for (let number = 2; names.has(name); number += 1) name = `${base}${number}`
  names.add(name)
  return name
}

/** Removes the field, parents that would have an empty selection, and variables that are no longer used. */
export function withoutField(edited: Edited, path: readonly Branch[]): string {
  const found = walk(edited, path)
  let at = found.length - 1
  while (at > 1 && selectionsOf(found[at - 1])?.length === 1) at -= 1
  const { operation } = edited
  if (!operation) return edited.text
  const isLast = at === 1 && selectionsOf(operation)?.length === 1
  const removed = isLast ? operation : found[at]
  if (!removed) return edited.text
  return isLast ? cut(edited.text, removed) : withoutUnused(cut(edited.text, removed), edited, operation)
}

/** Adds an argument whose value is a variable of the same name. */
export function withArgument(edited: Edited, field: FieldNode, argument: GraphQLArgument): string {
  const last = field.arguments?.at(-1)
  const text = `${argument.name}: $${argument.name}`
  const at = last?.loc?.end ?? field.name.loc?.end ?? 0
  const splice = { from: at, to: at, text: last ? `, ${text}` : `(${text})` }
  return spliced(edited.text, [splice, ...defined(edited, new Map([[argument.name, argument]]))])
}

export function withoutArgument(edited: Edited, field: FieldNode, argument: ArgumentNode): string {
  const given = field.arguments ?? []
  const { operation, text } = edited
  if (!operation) return text
  return withoutUnused(withoutListed(text, given, given.indexOf(argument)), edited, operation)
}

/** Returns the selected nodes along the path, beginning with the operation; empty without an operation. */
function walk({ operation }: Edited, path: readonly Branch[]): readonly Parent[] {
  const found: Parent[] = operation ? [operation] : []
  for (const branch of path) {
    const next = selectionsOf(found.at(-1))?.find((node) => isOf(node, branch))
    if (!next) break
    found.push(next)
  }
  return found
}

function selectionsOf(parent: Parent | undefined): readonly SelectionNode[] | undefined {
  return parent && setOf(parent)?.selections
}

function setOf(parent: Parent): SelectionSetNode | undefined {
  return parent.kind === Kind.FRAGMENT_SPREAD ? undefined : parent.selectionSet
}

function isOf(node: SelectionNode, branch: Branch): boolean {
  if (node.kind === Kind.FIELD) return branch.kind === 'field' && node.name.value === branch.name
  return node.kind === Kind.INLINE_FRAGMENT && branch.kind === 'type' && node.typeCondition?.name.value === branch.name
}

/** Writes the branches as nested selections. The last one gets the subfield that it needs to be valid. */
function fieldText(path: readonly Branch[], depth: number, variables: Map<string, GraphQLArgument>): string {
  const [branch, ...inner] = path
  if (!branch) return ''
  const indent = '  '.repeat(depth)
  const required = branch.arguments.filter(isRequiredArgument)
  for (const argument of required) variables.set(argument.name, argument)
  const given = required.map(({ name }) => `${name}: $${name}`).join(', ')
  const head = `${indent}${branch.kind === 'type' ? `... on ${branch.name}` : branch.name}${given && `(${given})`}`
  const content = inner.length > 0 ? fieldText(inner, depth + 1, variables) : `${indent}  ${branch.leaf}`
  return branch.leaf === null ? head : `${head} {\n${content}\n${indent}}`
}

/** Inserts before the closing brace of the parent, or adds a selection set to it. */
function inserted(text: string, parent: Parent, written: string, depth: number): Splice {
  const end = setOf(parent)?.loc?.end
  const outer = '  '.repeat(depth - 1)
  if (end === undefined) {
    const at = parent.loc?.end ?? text.length
    return { from: at, to: at, text: ` {\n${written}\n${outer}}` }
  }
  const from = text.slice(0, end - 1).trimEnd().length
  return { from, to: end - 1, text: `\n${written}\n${outer}` }
}

function defined({ operation }: Edited, variables: ReadonlyMap<string, GraphQLArgument>): readonly Splice[] {
  const present = operation?.variableDefinitions ?? []
  const missing = new Map([...variables].filter(([name]) => !present.some((node) => node.variable.name.value === name)))
  if (!operation || missing.size === 0) return []
  const last = present.at(-1)?.loc
  if (last) return [{ from: last.end, to: last.end, text: `, ${definitionList(missing)}` }]
  return [atHead(operation, definitionsText(missing))]
}

/** Inserts behind the name of the operation, or else behind its keyword, which the short form `{ … }` gets. */
function atHead({ name, loc }: OperationDefinitionNode, text: string): Splice {
  const isShort = loc?.startToken.kind === '{'
  const at = name?.loc?.end ?? (isShort ? loc.start : loc?.startToken.end) ?? 0
  return { from: at, to: at, text: isShort ? `query${text} ` : text }
}

function definitionsText(variables: ReadonlyMap<string, GraphQLArgument>): string {
  return variables.size === 0 ? '' : `(${definitionList(variables)})`
}

function definitionList(variables: ReadonlyMap<string, GraphQLArgument>): string {
  return [...variables].map(([name, { type }]) => `$${name}: ${type}`).join(', ')
}

/** Removes, one after the other, the definitions of variables that the edit left unused. */
function withoutUnused(text: string, before: Edited, { operation: type }: OperationDefinitionNode): string {
  const after = readQuery(text, type)
  if (!after?.operation) return text
  const [used, wereUsed] = [usedVariables(after), usedVariables(before)]
  const definitions = after.operation.variableDefinitions ?? []
  const unused = definitions.findIndex(({ variable: { name } }) => wereUsed.has(name.value) && !used.has(name.value))
  return unused === -1 ? text : withoutUnused(withoutListed(text, definitions, unused), before, after.operation)
}

/** Returns the variables that the operation uses, also in its directives and in the fragments that it spreads. */
function usedVariables({ operation, definitions }: Edited): ReadonlySet<string> {
  const used = new Set<string>()
  const searched = new Set<ASTNode>(operation ? [operation] : [])
  // The loop also visits the fragments that are added while it runs.
  for (const node of searched) {
    visit(node, {
      VariableDefinition: () => false,
      Variable: ({ name }) => void used.add(name.value),
      FragmentSpread({ name }) {
        const fragment = definitions.find(
          (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name.value,
        )
        if (fragment) searched.add(fragment)
      },
    })
  }
  return used
}

/** Removes one item of a list in parentheses, and the parentheses with the last item. */
function withoutListed(
  text: string,
  list: readonly { readonly loc?: { readonly start: number; readonly end: number } | undefined }[],
  index: number,
): string {
  const [one, before, after] = [list[index]?.loc, list[index - 1]?.loc, list[index + 1]?.loc]
  if (!one) return text
  if (before) return spliced(text, [{ from: before.end, to: one.end, text: '' }])
  if (after) return spliced(text, [{ from: one.start, to: after.start, text: '' }])
  const from = text.lastIndexOf('(', one.start)
  return spliced(text, [{ from, to: text.indexOf(')', one.end) + 1, text: '' }])
}

/** Removes the node and the white space before it. */
function cut(text: string, node: Parent): string {
  const { start = 0, end = 0 } = node.loc ?? {}
  const before = text.slice(0, start).trimEnd()
  // Keep the line break after a comment; otherwise the comment would swallow the text that follows.
  const from = before.slice(before.lastIndexOf('\n') + 1).includes('#') ? start : before.length
  return spliced(text, [{ from, to: end, text: '' }])
}

function spliced(text: string, splices: readonly Splice[]): string {
  return [...splices]
    .sort((left, right) => right.from - left.from)
    .reduce((now, { from, to, text: put }) => now.slice(0, from) + put + now.slice(to), text)
}
