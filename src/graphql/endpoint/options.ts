// What an operator decides about GraphQL.

import type { RequestLimits } from '../../resolvers/request-budget.ts'
import type { DocumentsOptions } from '../document/documents.ts'
import type { DocumentLimits } from '../document/limits.ts'

export const AUDIENCES = ['everyone', 'signed-in', 'nobody'] as const

export type Audience = (typeof AUDIENCES)[number]

export interface GraphQLOptions {
  readonly documentLimits: DocumentLimits
  readonly requestLimits: RequestLimits
  readonly documents: DocumentsOptions
  /** Who may ask for the schema. */
  readonly introspection: Audience
  /** Whose messages name the field, argument or type that was perhaps meant, and so parts of the schema. */
  readonly suggestions: Audience
  /** Whether the header `Gateway-Trace` is answered. */
  readonly isTraceEnabled: boolean
}
