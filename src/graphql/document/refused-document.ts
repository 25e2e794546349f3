// A document that is not executed, and why.
import { GraphQLError } from 'graphql'
import { messageOf } from '../../errors.ts'

export class RefusedDocument extends Error {
  override readonly name = 'RefusedDocument'
  readonly errors: readonly GraphQLError[]

  constructor(errors: readonly GraphQLError[]) {
    super('the document is refused')
    this.errors = errors
  }
}

/** The document has no operation of this name; without one, it has several. One that has none is not valid. */
export function withoutOperation(name: string | undefined): RefusedDocument {
  const message =
    name === undefined
      ? 'The document has several operations: name one with `operationName`.'
      : messageOf('OPERATION_NOT_FOUND')
  return new RefusedDocument([new GraphQLError(message, { extensions: { code: 'OPERATION_NOT_FOUND' } })])
}
