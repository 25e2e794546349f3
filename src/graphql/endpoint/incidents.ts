// Groups the failures of one response by cause: a cause that many fields hit is one incident, with one id and one log
// line.
import { causeOf, type ReportFailure } from '../../http/problem-details.ts'

/** Returns the id of the incident that a thrown value belongs to. Only the first failure of a cause is reported. */
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
