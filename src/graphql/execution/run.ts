// The state of one execution: its context, variables, errors and counts.
import type { VariableValues } from 'graphql'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { Context } from '../../resolvers/context.ts'
import type { CollectedErrors } from './collected-errors.ts'
import type { RunClock } from './turn-clock.ts'

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
  /** List items that wait for reads, as `MAX_PENDING` in `complete-list.ts` counts them. */
  pendingCount: number
}
