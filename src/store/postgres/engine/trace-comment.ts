// Appends the trace id of the request to a statement as a comment, which logs and pg_stat_activity show
// (https://google.github.io/sqlcommenter/spec).

export interface StatementTraces {
  /** `traceparent` (W3C Trace Context) of the current request; null when it is not traced. */
  readonly current: () => string | null
  /** Binds `run` to the current request, whichever request starts it later. */
  readonly bind: (run: () => void) => () => void
}

/** Hexadecimal digits and dashes: the specification requires no escaping for them. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** Returns `text` unchanged for an invalid `traceparent`, so that nothing else gets into a statement. */
export function withTraceComment(text: string, traceparent: string): string {
  return TRACEPARENT.test(traceparent) ? `${text} /*traceparent='${traceparent}'*/` : text
}
