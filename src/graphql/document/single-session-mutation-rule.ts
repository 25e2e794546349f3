// A validation rule: an operation does one thing about sessions at most.
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
 * The root fields in document order. Each fragment is followed once, however often it is spread, so the walk is linear:
 * a field node has one response name, and a second spread of it is merged into the same field. A fragment cycle ends here
 * too; it is another rule's error.
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
