// A validation rule that allows at most one mutation field per operation, because every mutation acts on sessions.
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

/** With aliases, one request could try many emails or tokens, past every limit that counts requests. */
export function singleSessionMutation(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation: OperationDefinitionNode) {
      if (operation.operation !== OperationTypeNode.MUTATION) return
      const fields = rootFields(context, operation.selectionSet)
      if (fields.length <= 1) return
      context.reportError(
        new GraphQLError('An operation may select only one field of `Mutation`, and only once.', {
          nodes: fields,
        }),
      )
    },
  }
}

/**
 * The root fields in document order. Each fragment is followed once, however often it is spread, so the walk is linear.
 * Nothing is missed: a field node has one response name, so a second spread of it merges into the same field. A
 * fragment cycle terminates here too; another rule reports it.
 */
function rootFields(context: ValidationContext, root: SelectionSetNode): FieldNode[] {
  const fields: FieldNode[] = []
  const followed = new Set<string>()

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (!selection.name.value.startsWith('__')) fields.push(selection)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet)
      } else {
        const name = selection.name.value
        const fragment = followed.has(name) ? undefined : context.getFragment(name)
        followed.add(name)
        if (fragment) collect(fragment.selectionSet)
      }
    }
  }

  collect(root)
  return fields
}
