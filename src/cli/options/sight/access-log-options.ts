// The options of `serve` for the request log: its format and its sampling.
import { z } from 'zod'
import { integer, type OptionRow } from '../option.ts'

export const accessLogOptions = {
  accessLog: {
    flags: '--access-log <off|json|pretty|auto>',
    description:
      'log each request to stderr: json, pretty or auto (pretty on a terminal, else json); off: only 401, 403, 429, 5xx, refused origins; json, pretty: whole log',
    default: 'off',
    schema: z.enum(['off', 'json', 'pretty', 'auto'], 'must be off, json, pretty or auto'),
  },
  accessLogSample: {
    flags: '--access-log-sample <count>',
    description: 'log one of this many requests; refused and failed requests are always logged',
    default: '1',
    schema: integer(1, 1_000_000),
  },
} as const satisfies Record<string, OptionRow>
