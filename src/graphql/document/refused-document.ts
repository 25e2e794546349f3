// A document that is not executed, and why.
import type { GraphQLError } from 'graphql'

export class RefusedDocument extends Error {
  override readonly name = 'RefusedDocument'
  readonly errors: readonly GraphQLError[]

  constructor(errors: readonly GraphQLError[]) {
    super('the document is refused')
    this.errors = errors
  }
}
