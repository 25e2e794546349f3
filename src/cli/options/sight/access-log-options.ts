// The options of `serve` for the request log: its format and its sampling.
import { z } from 'zod'
import { inGroup, integer } from '../option.ts'

export const accessLogOptions = inGroup('Metrics, logs and traces', {
  accessLog: {
    flags: '--access-log <off|json|pretty|auto>',
    description:
      'log each request to stderr: json, pretty, or auto (pretty on a terminal, otherwise json); off logs only 401, 403, 429, 5xx and refused origins; json and pretty format the whole log so',
    default: 'off',
    schema: z.enum(['off', 'json', 'pretty', 'auto'], 'must be off, json, pretty or auto'),
  },
  accessLogSample: {
    flags: '--access-log-sample <count>',
    description: 'log one of this many requests; refused and failed requests are always logged',
    default: '1',
    schema: integer(1, 1_000_000),
  },
})
