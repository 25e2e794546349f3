// The reads of a request that is traced: each is a step of it, from its question to the end of the batch that answers it.
import { beginStep, endStep, type RequestRecord } from '../../http/request-record.ts'
import type { Reads } from '../reads.ts'

/** The same services for a request that is not traced. */
export function withTracedReads<T extends { readonly reads: Reads }>(services: T, record: RequestRecord): T {
  if (record.steps === null) return services
  const traced = Object.entries(services.reads).map(([name, read]: [string, (question: never) => Promise<unknown>]) => [
    name,
    async (question: never) => {
      const startedAt = beginStep(record)
      try {
        return await read(question)
      } finally {
        endStep(record, `store ${name}`, startedAt)
      }
    },
  ])
  return { ...services, reads: Object.fromEntries(traced) as Reads }
}
