// The options of `serve` for operators who watch it: the admin port, the request log and traces. All other settings of
// traces are the standard variables OTEL_….
import { booleanOption, inGroup, integer, nonEmpty, oneOf } from '../option.ts'

export const sightOptions = inGroup('Metrics, logs and traces', {
  adminPort: {
    flags: '--admin-port <port>',
    description:
      'port for /metrics, /healthz, /readyz and /version, separate from the client port; 0 picks a free one (default: none)',
    schema: integer(0, 65_535).optional(),
  },
  adminHost: {
    flags: '--admin-host <host>',
    description: 'address that --admin-port listens on; there is no authentication',
    default: '127.0.0.1',
    schema: nonEmpty,
  },
  accessLog: {
    flags: '--access-log <off|json|pretty|auto>',
    description:
      'log each request to stderr: json, pretty, or auto (pretty on a terminal, otherwise json); off logs only 401, 403, 429, 5xx and refused origins; json and pretty format the whole log so',
    default: 'off',
    schema: oneOf('off', 'json', 'pretty', 'auto'),
  },
  accessLogSample: {
    flags: '--access-log-sample <count>',
    description: 'log one of this many requests; refused and failed requests are always logged',
    default: '1',
    schema: integer(1, 1_000_000),
  },
  databaseTraceComments: {
    flags: '--database-trace-comments',
    description:
      'PostgreSQL: append the traceparent of a traced request to its statements as a comment, for the server log; PostgreSQL prepares each such statement again',
    schema: booleanOption.optional(),
  },
})
