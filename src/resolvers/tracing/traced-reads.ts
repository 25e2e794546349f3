// Records each store read of a traced request as a step, from the call to the end of the batch that answers it.
import { beginStep, endStep, type RequestRecord } from '../../http/request-record.ts'
import type { Reads } from '../reads/reads.ts'

/** Maximum number of recorded steps per request. A long response is read in many parts, and would make a long trace. */
const MAX_STEPS = 100

/** The services with traced reads; the services themselves if the request is not traced. */
export function withTracedReads<T extends { readonly reads: Reads }>(services: T, record: RequestRecord): T {
  if (record.steps === null) return services
  const { steps } = record
  const { reads } = services

  function traced<K, V>(name: string, read: (question: K) => Promise<V>): (question: K) => Promise<V> {
    return async (question) => {
      const startedAt = beginStep(record)
      try {
        return await read(question)
      } finally {
        if (steps.length < MAX_STEPS) endStep(record, name, startedAt)
      }
    }
  }

  return {
    ...services,
    // Written out by hand: an object built in a loop over names is slow to create and slow to use.
    reads: {
      documentsWithin: traced('store documentsWithin', reads.documentsWithin),
      documentsById: traced('store documentsById', reads.documentsById),
      documentCount: traced('store documentCount', reads.documentCount),
      projectsByRef: traced('store projectsByRef', reads.projectsByRef),
      latestExports: traced('store latestExports', reads.latestExports),
      exportsByKey: traced('store exportsByKey', reads.exportsByKey),
      exports: traced('store exports', reads.exports),
      exportCount: traced('store exportCount', reads.exportCount),
      elementsWithin: traced('store elementsWithin', reads.elementsWithin),
      elementsAt: traced('store elementsAt', reads.elementsAt),
      elementRun: traced('store elementRun', reads.elementRun),
    },
  }
}
