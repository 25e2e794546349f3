// Tracks which request a database statement is sent for, when statements carry trace comments. The request is not
// passed from call to call.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { GatewayRequest } from '../../http/request.ts'
import type { RequestRecord } from '../../http/request-record.ts'
import type { StatementTraces } from '../../store/postgres/engine/trace-comment.ts'

export interface RequestScope {
  /** Attributes everything that `answer` does or starts to this request. */
  readonly run: (request: GatewayRequest, answer: () => void) => void
  readonly statements: StatementTraces
}

export function createRequestScope(): RequestScope {
  const scope = new AsyncLocalStorage<RequestRecord>()
  return {
    // Runs for untraced requests too: on a shared connection, an untraced one may be started by the end of a traced
    // one.
    run: ({ record }, answer) => scope.run(record, answer),
    statements: {
      current() {
        const record = scope.getStore()
        // Work that outlives its request, such as a timer that it was the first to need, belongs to no request.
        if (!record || record.traceId === null || record.status !== 0) return null
        return `00-${record.traceId}-${record.spanId}-01`
      },
      bind: (run) => AsyncLocalStorage.bind(run),
    },
  }
}
