// What an operator decides about GraphQL.

import type { RequestLimits } from '../../resolvers/request-budget.ts'
import type { DocumentsOptions } from '../document/documents.ts'
import type { DocumentLimits } from '../document/limits.ts'

export const INTROSPECTION = ['everyone', 'signed-in', 'nobody'] as const

export type Introspection = (typeof INTROSPECTION)[number]

export interface GraphQLOptions {
  readonly documentLimits: DocumentLimits
  readonly requestLimits: RequestLimits
  readonly documents: DocumentsOptions
  /** Who may ask for the schema. */
  readonly introspection: Introspection
  /** Whether the header `Gateway-Trace` is answered. */
  readonly isTraceEnabled: boolean
}
