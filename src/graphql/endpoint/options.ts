// What an operator decides about GraphQL.
import type { DocumentsOptions } from '../document/documents.ts'
import type { DocumentLimits } from '../document/limits.ts'
import type { WriteLimits } from '../execution/write-budget.ts'

export const INTROSPECTION = ['everyone', 'signed-in', 'nobody'] as const

export type Introspection = (typeof INTROSPECTION)[number]

export interface GraphQLOptions {
  readonly documentLimits: DocumentLimits
  readonly writeLimits: WriteLimits
  /** Stored text that one request may hold in memory, in UTF-16 units. What is streamed does not count. */
  readonly maxReadBytes: number
  readonly documents: DocumentsOptions
  /** Who may ask for the schema. */
  readonly introspection: Introspection
  /** Whether the header `Gateway-Trace` is answered. */
  readonly isTraceEnabled: boolean
}
