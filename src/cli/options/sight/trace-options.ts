// The options of `serve` for traces. All other settings of traces are the standard variables OTEL_….
import { booleanOption, type Config, type OptionRow } from '../option.ts'

export const traceOptions = {
  databaseTraceComments: {
    flags: '--database-trace-comments',
    description:
      'PostgreSQL: statements of a request that is traced end with its traceparent as a comment, for the log of the server; they are then prepared each time',
    schema: booleanOption.optional(),
  },
} as const satisfies Record<string, OptionRow>

export type TraceConfig = Config<typeof traceOptions>
