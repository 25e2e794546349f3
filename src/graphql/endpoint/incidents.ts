// The incidents of one response: a cause that many fields meet is one, with one id and one line of the log.
import { GatewayError } from '../../errors.ts'
import { newIncident, type ReportFailure } from '../../http/problem-details.ts'

/** The id of the incident that something thrown is part of. The first of a cause is reported. */
export type IncidentOf = (thrown: unknown) => string

export function createIncidents(report: ReportFailure): IncidentOf {
  const incidents = new Map<unknown, string>()
  return (thrown) => {
    const cause = causeOf(thrown)
    const known = incidents.get(cause)
    if (known !== undefined) return known
    const incident = newIncident(thrown, report)
    incidents.set(cause, incident)
    return incident
  }
}

/** Errors of one kind and message have one cause: a database that is away says the same to each read. */
function causeOf(thrown: unknown): unknown {
  const cause = thrown instanceof GatewayError && thrown.cause !== undefined ? thrown.cause : thrown
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : cause
}
