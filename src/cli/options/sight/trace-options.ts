// The options of `serve` for traces. All other settings of traces are the standard variables OTEL_….
import { booleanOption, inGroup } from '../option.ts'

export const traceOptions = inGroup('Metrics, logs and traces', {
  databaseTraceComments: {
    flags: '--database-trace-comments',
    description:
      'PostgreSQL: append the traceparent of a traced request to its statements as a comment, for the server log; PostgreSQL prepares each such statement again',
    schema: booleanOption.optional(),
  },
})
