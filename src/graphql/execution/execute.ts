// Executes one operation as the GraphQL specification says, within budgets and spread over turns of the event loop.
import { type GraphQLError, type GraphQLSchema, getVariableValues, locatedError } from 'graphql'
import type { Context } from '../../resolvers/context.ts'
import { RequestAborted } from '../../resolvers/request-budget.ts'
import type { Awaitable } from '../../store/contract.ts'
import type { PreparedOperation } from '../document/prepared-document.ts'
import { createCollectedErrors, FieldFailure } from './collected-errors.ts'
import { completeObject } from './complete-object.ts'
import { completeSerially } from './complete-serially.ts'
import { createPlanFor } from './plan/kept-plans.ts'
import type { Run } from './run.ts'
import type { Text } from './text.ts'
import { createRunClock, type TurnClock } from './turn-clock.ts'

/** Maximum number of reported errors in variables. */
const MAX_COERCION_ERRORS = 10

export interface Execution {
  /** Null if nothing was executed, because the variables do not match their declarations. */
  readonly data: Text | null
  /** The errors, in the order in which a depth-first execution meets them. */
  readonly errors: readonly (GraphQLError | FieldFailure)[]
}

export interface Executor {
  /**
   * Throws `RequestAborted` when a budget is used up. Spreads work on a large response over turns of the event loop.
   * Caches plans with the document, within the memory that it has for them.
   */
  readonly execute: (
    operation: PreparedOperation,
    inputs: Readonly<Record<string, unknown>>,
    context: Context,
    options: ExecuteOptions,
  ) => Awaitable<Execution>
}

export interface ExecuteOptions {
  /** Whether messages leave out suggestions (`Did you mean …`). */
  readonly hideSuggestions: boolean
}

export interface ExecutorOptions {
  readonly schema: GraphQLSchema
  readonly clock: TurnClock
}

export function createExecutor({ schema, clock }: ExecutorOptions): Executor {
  const planFor = createPlanFor(schema)

  return {
    execute(operation, inputs, context, { hideSuggestions }) {
      const { variableDefinitions = [] } = operation.definition
      const coerced = getVariableValues(schema, variableDefinitions, inputs, {
        maxErrors: MAX_COERCION_ERRORS,
        hideSuggestions,
      })
      if (!('variableValues' in coerced)) return { data: null, errors: coerced.errors }
      const plan = planFor(operation, coerced.variableValues)
      const run: Run = {
        context,
        variables: coerced.variableValues,
        errors: createCollectedErrors(context.budget),
        clock: createRunClock(clock),
        yieldTurn: context.yieldTurn,
        argumentValues: [],
        fieldCount: 0,
        scannedLength: 0,
        scannedDocuments: null,
        scansInTurns: null,
        pendingCount: 0,
      }
      try {
        const complete = plan.isMutation ? completeSerially : completeObject
        const data = complete(plan.selection(), run, {}, null)
        return data instanceof Promise ? finish(run, data) : withErrors(run, data)
      } catch (thrown) {
        return withoutData(run, thrown)
      }
    },
  }
}

async function finish(run: Run, data: Promise<Text>): Promise<Execution> {
  try {
    return await withErrors(run, await data)
  } catch (thrown) {
    return withoutData(run, thrown)
  }
}

/** A failure that no nullable field caught makes all of `data` null. A `RequestAborted` is rethrown. */
function withoutData(run: Run, thrown: unknown): Awaitable<Execution> {
  if (thrown instanceof RequestAborted) throw thrown
  // The root fields could not be collected.
  if (!(thrown instanceof FieldFailure)) return { data: 'null', errors: [locatedError(thrown, undefined, undefined)] }
  run.errors.add(thrown, null)
  return withErrors(run, 'null')
}

function withErrors(run: Run, data: Text): Awaitable<Execution> {
  const errors = run.errors.inOrder(run.yieldTurn)
  return errors instanceof Promise ? errors.then((sorted) => ({ data, errors: sorted })) : { data, errors }
}
