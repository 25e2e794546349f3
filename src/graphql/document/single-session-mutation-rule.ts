// A validation rule: an operation opens, renews or ends at most one session.
import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'

/** Aliases would let one request try many emails or tokens, past every limit that counts requests. */
export function singleSessionMutation(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation: OperationDefinitionNode) {
      if (operation.operation !== OperationTypeNode.MUTATION) return
      const fields = rootFields(context, operation.selectionSet, new Set())
      if (fields.length <= 1) return
      context.reportError(
        new GraphQLError('An operation may select only one of `login`, `refresh` and `logout`, and only once.', {
          nodes: fields,
        }),
      )
    },
  }
}

/** Through fragments, each followed once: a fragment cycle is another rule's error. */
function rootFields(context: ValidationContext, { selections }: SelectionSetNode, seen: Set<string>): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value.startsWith('__') ? [] : [selection]
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(context, selection.selectionSet, seen)
    const name = selection.name.value
    const fragment = context.getFragment(name)
    if (!fragment || seen.has(name)) return []
    return rootFields(context, fragment.selectionSet, new Set(seen).add(name))
  })
}
