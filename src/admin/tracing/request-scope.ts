// Which request a statement is sent for, where statements say so: it is not handed from call to call.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { GatewayRequest } from '../../http/request.ts'
import type { RequestRecord } from '../../http/request-record.ts'
import type { StatementTraces } from '../../store/postgres/engine/trace-comment.ts'

export interface RequestScope {
  /** Whatever `answer` does, and whatever follows from it, is done for this request. */
  readonly run: (request: GatewayRequest, answer: () => void) => void
  readonly statements: StatementTraces
}

export function createRequestScope(): RequestScope {
  const scope = new AsyncLocalStorage<RequestRecord>()
  return {
    // Also for one that is not traced: on a connection it may be begun by the end of one that was.
    run: ({ record }, answer) => scope.run(record, answer),
    statements: {
      current() {
        const record = scope.getStore()
        // What goes on after its request, such as a timer that it was the first to need, is nobody's.
        if (!record || record.traceId === null || record.status !== 0) return null
        return `00-${record.traceId}-${record.spanId}-01`
      },
      bind: (run) => AsyncLocalStorage.bind(run),
    },
  }
}
