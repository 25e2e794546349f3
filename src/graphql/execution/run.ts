// The state of one execution: its context, variables, errors and counters.
import type { VariableValues } from 'graphql'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { Context } from '../../resolvers/context.ts'
import type { MemberField } from '../../resolvers/documents/member-field.ts'
import type { CollectedErrors } from './collected-errors.ts'
import type { RunClock } from './turn-clock.ts'

/** The cached result of scanning a stored document. */
export interface ScannedDocument {
  /** The offsets that `MemberReader.spans` returned. */
  readonly spans: Int32Array
  /** JSON texts of the fields that were read so far; null for a member that is missing or of another type. */
  readonly values: Map<MemberField, string | null>
}

export interface Run {
  readonly context: Context
  readonly variables: VariableValues
  readonly errors: CollectedErrors
  readonly clock: RunClock
  readonly yieldTurn: YieldTurn
  /** Argument values by slot of the field. They are the same for all objects of one execution. */
  readonly argumentValues: unknown[]
  /** Number of resolver calls in the whole response. */
  fieldCount: number
  /** UTF-16 units of short documents that were scanned for members. */
  scannedLength: number
  /**
   * Keyed by the object that the store returned, for as long as that is referenced; null until there is a document to
   * remember.
   */
  scannedDocuments: WeakMap<object, ScannedDocument> | null
  /** The last scan in several turns of each very long document, by the same keys; null until there is one. */
  scansInTurns: WeakMap<object, Promise<void>> | null
  /** Number of list items that wait for reads, counted as `MAX_PENDING` in `complete-list.ts` counts them. */
  pendingCount: number
}
