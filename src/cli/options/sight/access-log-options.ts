// The options of `serve` for the request log: its format and its sampling.
import { z } from 'zod'
import { integer, type OptionRow } from '../option.ts'

export const accessLogOptions = {
  accessLog: {
    flags: '--access-log <off|json|pretty|auto>',
    description:
      'a line on stderr for each request: json, pretty, or auto for pretty on a terminal only; off: only for 401, 403, 429, 5xx and refused origins; json and pretty are for the rest of the log, too',
    default: 'off',
    schema: z.enum(['off', 'json', 'pretty', 'auto'], 'must be off, json, pretty or auto'),
  },
  accessLogSample: {
    flags: '--access-log-sample <count>',
    description: 'one request of so many gets its line; those that are refused or fail always do',
    default: '1',
    schema: integer(1, 1_000_000),
  },
} as const satisfies Record<string, OptionRow>
