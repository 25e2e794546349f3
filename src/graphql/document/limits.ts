// How much one document may ask for, counted before it is validated: every count is linear in the text.
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

export interface DocumentLimits {
  /** Fields within fields, fragments followed. */
  readonly maxDepth: number
  /** Aliased fields in all of the document, as it is written. */
  readonly maxAliases: number
  /** Fields of an operation's own selection, fragments followed. */
  readonly maxRootFields: number
  /** Directives in all of the document, as it is written. */
  readonly maxDirectives: number
  /** Fields of an operation once every fragment stands where it is spread. */
  readonly maxFields: number
}

/** What a selection comes to with its fragments in place. Saturates instead of overflowing. */
interface Size {
  readonly fields: number
  readonly depth: number
  readonly rootFields: number
}

const NOTHING: Size = { fields: 0, depth: 0, rootFields: 0 }

/** The first limit that the document passes, as an error with its place; null when it keeps them all. */
export function documentExcess(document: DocumentNode, limits: DocumentLimits): GraphQLError | null {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const written = countWritten(document)
  if (written.aliases > limits.maxAliases) return excess('aliases', limits.maxAliases, document)
  if (written.directives > limits.maxDirectives) return excess('directives', limits.maxDirectives, document)
  const sizeOf = createSizes(fragments)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    const size = sizeOf(definition.selectionSet)
    if (size.depth > limits.maxDepth) return excess('levels of fields', limits.maxDepth, definition)
    if (size.fields > limits.maxFields)
      return excess('fields with its fragments in place', limits.maxFields, definition)
    if (definition.kind === Kind.OPERATION_DEFINITION && size.rootFields > limits.maxRootFields)
      return excess('fields at its root', limits.maxRootFields, definition)
  }
  return null
}

function excess(
  what: string,
  limit: number,
  node: DocumentNode | OperationDefinitionNode | FragmentDefinitionNode,
): GraphQLError {
  return new GraphQLError(`The document has more than ${limit} ${what}: ask for less at once.`, {
    nodes: node.kind === Kind.DOCUMENT ? node.definitions.slice(0, 1) : node,
  })
}

interface Written {
  aliases: number
  directives: number
}

function countWritten(document: DocumentNode): Written {
  const written: Written = { aliases: 0, directives: 0 }
  function count(selections: readonly SelectionNode[]): void {
    for (const selection of selections) {
      written.directives += selection.directives?.length ?? 0
      if (selection.kind === Kind.FIELD && selection.alias) written.aliases += 1
      if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet) count(selection.selectionSet.selections)
    }
  }
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    written.directives += definition.directives?.length ?? 0
    for (const variable of definition.variableDefinitions ?? []) written.directives += variable.directives?.length ?? 0
    count(definition.selectionSet.selections)
  }
  return written
}

/** Each fragment is measured once. One that is spread within itself counts as nothing there: validation refuses it. */
function createSizes(fragments: ReadonlyMap<string, FragmentDefinitionNode>): (set: SelectionSetNode) => Size {
  const known = new Map<string, Size>()

  function sizeOfFragment(name: string): Size {
    const measured = known.get(name)
    if (measured) return measured
    const fragment = fragments.get(name)
    known.set(name, NOTHING)
    const size = fragment ? sizeOf(fragment.selectionSet) : NOTHING
    known.set(name, size)
    return size
  }

  function sizeOfSelection(selection: SelectionNode): Size {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return sizeOfFragment(selection.name.value)
    if (selection.kind === Kind.INLINE_FRAGMENT) return sizeOf(selection.selectionSet)
    const inner = selection.selectionSet ? sizeOf(selection.selectionSet) : NOTHING
    return { fields: 1 + inner.fields, depth: 1 + inner.depth, rootFields: 1 }
  }

  function sizeOf({ selections }: SelectionSetNode): Size {
    let [fields, depth, rootFields] = [0, 0, 0]
    for (const selection of selections) {
      const size = sizeOfSelection(selection)
      fields = Math.min(fields + size.fields, Number.MAX_SAFE_INTEGER)
      rootFields = Math.min(rootFields + size.rootFields, Number.MAX_SAFE_INTEGER)
      depth = Math.max(depth, size.depth)
    }
    return { fields, depth, rootFields }
  }

  return sizeOf
}
