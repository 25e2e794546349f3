// The error for a document that is not executed, with the reasons.
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

/**
 * The document has no operation of this name or, if no name was given, several operations. (A document without any
 * operation is not valid, so it never gets here.)
 */
export function withoutOperation(name: string | undefined): RefusedDocument {
  const message =
    name === undefined
      ? 'The document has several operations: name one with `operationName`.'
      : messageOf('OPERATION_NOT_FOUND')
  return new RefusedDocument([new GraphQLError(message, { extensions: { code: 'OPERATION_NOT_FOUND' } })])
}
