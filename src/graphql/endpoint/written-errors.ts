// Serializes the `errors` of a response, a long list over several turns of the event loop, and finds the first and last
// failure.
import { statusOf } from '../../errors.ts'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { ReportFailure } from '../../http/problem-details.ts'
import { createTextBuilder, type Text } from '../execution/text.ts'
import { type GraphQLFailure, toGraphQLFailure } from './graphql-errors.ts'
import { createIncidents } from './incidents.ts'

/** Errors that are serialized in one turn of the event loop: about a millisecond of work. */
const WRITTEN_AT_ONCE = 64

export interface WrittenErrors {
  /** A JSON array; null if nothing failed. */
  readonly text: Text | null
  readonly first: GraphQLFailure | null
  readonly last: GraphQLFailure | null
  /** Whether one of them is a 5xx failure: then the same request may be answered differently next time. */
  readonly isOurFault: boolean
}

/** `thrown` may hold any values. */
export function writeErrors(thrown: readonly unknown[], report: ReportFailure): WrittenErrors {
  const writer = createErrorWriter(report)
  for (const each of thrown) writer.add(each)
  return writer.build()
}

export async function writeErrorsInTurns(
  thrown: readonly unknown[],
  report: ReportFailure,
  yieldTurn: YieldTurn,
): Promise<WrittenErrors> {
  const writer = createErrorWriter(report)
  for (const [index, each] of thrown.entries()) {
    if (index > 0 && index % WRITTEN_AT_ONCE === 0) await yieldTurn()
    writer.add(each)
  }
  return writer.build()
}

function createErrorWriter(report: ReportFailure) {
  const incidentOf = createIncidents(report)
  const builder = createTextBuilder()
  let first: GraphQLFailure | null = null
  let last: GraphQLFailure | null = null
  let isOurFault = false

  return {
    add(thrown: unknown): void {
      const failure = toGraphQLFailure(thrown, incidentOf)
      builder.add(first === null ? '[' : ',')
      builder.add(JSON.stringify(failure.entry))
      first ??= failure
      last = failure
      if (failure.error !== null && statusOf(failure.error.code) >= 500) isOurFault = true
    },
    build(): WrittenErrors {
      if (first === null) return { text: null, first, last, isOurFault }
      builder.add(']')
      return { text: builder.build(), first, last, isOurFault }
    },
  }
}
