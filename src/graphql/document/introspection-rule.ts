// A validation rule: a document asks for no part of the schema, and whoever sends one is told how they get it.
import { type ASTVisitor, type FieldNode, GraphQLError, type ValidationContext } from 'graphql'

/** `signIn`: whoever signs in may. */
export type Introspection = 'allowed' | 'signIn' | 'refused'

const REASONS = {
  signIn: 'Sign in to ask for the schema, or get its text from `schema.graphql`, beside this path.',
  refused: 'This gateway does not answer questions about its schema.',
} as const

/** One error however many fields ask: the reason is the same for all of them. */
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
