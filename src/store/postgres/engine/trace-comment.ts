// The trace that a statement belongs to, written at its end, where logs and pg_stat_activity show it (https://google.github.io/sqlcommenter/spec).

export interface StatementTraces {
  /** `traceparent` (W3C Trace Context) of the request that what runs now is done for; null where that is not traced. */
  readonly current: () => string | null
  /** `run` bound to the current request, whichever request starts it later. */
  readonly bind: (run: () => void) => () => void
}

/** Hexadecimal digits and dashes: nothing that the specification would have escaped. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** Unchanged for what is no `traceparent`: nothing else gets into a statement. */
export function withTraceComment(text: string, traceparent: string): string {
  return TRACEPARENT.test(traceparent) ? `${text} /*traceparent='${traceparent}'*/` : text
}
