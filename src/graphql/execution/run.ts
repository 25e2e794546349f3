// What one execution carries along: its context, its variables, what it may still use, and what went wrong.
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
  /** Fields that were begun with a resolver, in all of the answer. */
  fieldCount: number
  /** Items of lists that wait for what was asked for them. */
  pendingCount: number
}
