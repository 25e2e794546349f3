// Collects the fields of a selection (GraphQL specification, CollectFields) for one object type and known variables.
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql'

export interface FieldCollector {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: VariableValues
}

/**
 * The field nodes by response name, in the order of their first selection. `sets` are the selection sets of all nodes
 * that were merged into one field. Throws a `GraphQLError` if a condition is null, because validation lets such a
 * variable pass.
 */
export function collectFields(
  collector: FieldCollector,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const { schema, fragments, variables } = collector
  const grouped = new Map<string, FieldNode[]>()
  const visited = new Set<string>()

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (!isIncluded(selection, variables)) continue
        const name = selection.alias?.value ?? selection.name.value
        const nodes = grouped.get(name)
        if (nodes) nodes.push(selection)
        else grouped.set(name, [selection])
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (isIncluded(selection, variables) && isOnType(schema, selection, type)) collect(selection.selectionSet)
      } else {
        collectSpread(selection)
      }
    }
  }

  /** Marks a fragment as visited only if this spread is included: the next spread may have another condition. */
  function collectSpread(spread: FragmentSpreadNode): void {
    const name = spread.name.value
    if (!isIncluded(spread, variables)) return
    const fragment = fragments.get(name)
    if (!fragment || !isOnType(schema, fragment, type) || visited.has(name)) return
    visited.add(name)
    collect(fragment.selectionSet)
  }

  for (const set of sets) collect(set)
  return grouped
}

function isIncluded(node: FieldNode | FragmentSpreadNode | InlineFragmentNode, variables: VariableValues): boolean {
  if (!node.directives?.length) return true
  if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true) return false
  return getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false
}

function isOnType(
  schema: GraphQLSchema,
  { typeCondition }: FragmentDefinitionNode | InlineFragmentNode,
  type: GraphQLObjectType,
): boolean {
  if (!typeCondition) return true
  const condition = schema.getType(typeCondition.name.value)
  if (condition === type) return true
  return isAbstractType(condition) && schema.isSubType(condition, type)
}
