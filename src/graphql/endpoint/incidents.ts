// The incidents of one response: a cause that many fields meet is one, with one id and one line of the log.
import { causeOf, type ReportFailure } from '../../http/problem-details.ts'

/** The id of the incident that something thrown is part of. The first of a cause is reported. */
export type IncidentOf = (thrown: unknown) => ReturnType<ReportFailure>

export function createIncidents(report: ReportFailure): IncidentOf {
  const incidents = new Map<unknown, ReturnType<ReportFailure>>()
  return (thrown) => {
    const cause = causeOf(thrown)
    const known = incidents.get(cause)
    if (known !== undefined) return known
    const incident = report(thrown)
    incidents.set(cause, incident)
    return incident
  }
}
