// Limits how much one document may ask for. The counts run before validation and take time linear in the text.
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { MAX_SELECTIONS_READ, type ReadBudget, repeatsTooOften, tooManyRepetitions } from './repeated-fields.ts'

export interface DocumentLimits {
  /** Levels of nested fields, with fragments followed. */
  readonly maxDepth: number
  /** Aliased fields in the whole document as written: a fragment counts once. */
  readonly maxAliases: number
  /** Fields at the root of an operation, with fragments followed. */
  readonly maxRootFields: number
  /** Directives in the whole document as written: a fragment counts once. */
  readonly maxDirectives: number
  /** Fields of an operation, with a fragment counted again for every spread of it. */
  readonly maxFields: number
}

/** Counts of a selection with every fragment expanded. They saturate instead of overflowing. */
interface Size {
  readonly fields: number
  readonly depth: number
  readonly rootFields: number
}

const NOTHING: Size = { fields: 0, depth: 0, rootFields: 0 }

/** An error with a location for the first limit that the document exceeds; null if it keeps all of them. */
export function documentExcess(document: DocumentNode, limits: DocumentLimits): GraphQLError | null {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const written = countWritten(document)
  if (written.aliases > limits.maxAliases) return excess('aliases', limits.maxAliases, document)
  if (written.directives > limits.maxDirectives) return excess('directives', limits.maxDirectives, document)
  const sizeOf = createSizes(fragments)
  const budget: ReadBudget = { left: MAX_SELECTIONS_READ }
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    const size = sizeOf(definition.selectionSet)
    if (size.depth > limits.maxDepth) return excess('levels of fields', limits.maxDepth, definition)
    if (size.fields > limits.maxFields)
      return excess('fields with its fragments expanded', limits.maxFields, definition)
    if (definition.kind === Kind.OPERATION_DEFINITION && size.rootFields > limits.maxRootFields)
      return excess('fields at its root', limits.maxRootFields, definition)
    if (repeatsTooOften(definition.selectionSet, fragments, size.fields, budget)) return tooManyRepetitions(definition)
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

/**
 * Measures each fragment once. A fragment spread within itself counts as 0 there: validation refuses the cycle later.
 */
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
