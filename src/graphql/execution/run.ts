// The state of one execution: its context, variables, errors and counts.
import type { VariableValues } from 'graphql'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { Context } from '../../resolvers/context.ts'
import type { MemberField } from '../../resolvers/documents/member-field.ts'
import type { CollectedErrors } from './collected-errors.ts'
import type { RunClock } from './turn-clock.ts'

/** What was found in a stored document. */
export interface LongDocument {
  /** As a `MemberReader` answers them. */
  readonly spans: Int32Array
  /** What the fields answer: those that were asked for. */
  readonly values: Map<MemberField, string | null>
}

export interface Run {
  readonly context: Context
  readonly variables: VariableValues
  readonly errors: CollectedErrors
  readonly clock: RunClock
  readonly yieldTurn: YieldTurn
  /** Argument values by the slot of their field: they are the same for all objects of one execution. */
  readonly argumentValues: unknown[]
  /** Fields whose resolvers were called, in the whole response. */
  fieldCount: number
  /** UTF-16 units of the short documents that members were looked for in. */
  scannedLength: number
  /** By what was read from the store, for as long as that is held; null until a document is long. */
  longDocuments: WeakMap<object, LongDocument> | null
  /** List items that wait for reads, as `MAX_PENDING` in `complete-list.ts` counts them. */
  pendingCount: number
}
