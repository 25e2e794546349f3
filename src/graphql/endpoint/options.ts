// The options that an operator sets for GraphQL.

import type { RequestLimits } from '../../resolvers/request-budget.ts'
import type { DocumentCacheOptions } from '../document/document-cache.ts'
import type { DocumentLimits } from '../document/limits.ts'

export const AUDIENCES = ['everyone', 'signed-in', 'nobody'] as const

export type Audience = (typeof AUDIENCES)[number]

export interface GraphQLOptions {
  readonly documentLimits: DocumentLimits
  readonly requestLimits: RequestLimits
  readonly documents: DocumentCacheOptions
  /** Who may use introspection. */
  readonly introspection: Audience
  /** Who gets error messages with suggestions (`Did you mean …`), which reveal parts of the schema. */
  readonly suggestions: Audience
  /** Whether a request with the header `Gateway-Trace` gets a trace. */
  readonly isTraceEnabled: boolean
}
