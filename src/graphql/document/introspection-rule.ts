// A validation rule that refuses introspection, and tells the client how to get the schema instead.
import { type ASTVisitor, type FieldNode, GraphQLError, type ValidationContext } from 'graphql'

/** `signIn`: allowed for signed-in users only. */
export type Introspection = 'allowed' | 'signIn' | 'refused'

const REASONS = {
  signIn: 'Sign in to ask for the schema, or get its text from `schema.graphql`, beside this path.',
  refused: 'This gateway does not allow introspection.',
} as const

/** Reports one error per document, however many introspection fields it has: the reason is the same for all of them. */
export function noIntrospection(introspection: keyof typeof REASONS): (context: ValidationContext) => ASTVisitor {
  return (context) => {
    let isReported = false
    return {
      Field(field: FieldNode) {
        const { value: name } = field.name
        if (isReported || (name !== '__schema' && name !== '__type')) return
        isReported = true
        context.reportError(new GraphQLError(REASONS[introspection], { nodes: field }))
      },
    }
  }
}
