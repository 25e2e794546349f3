// The options of `health`: the address options of `serve`, and a timeout.
import { type Config, integer, type OptionRow } from '../option.ts'
import { SERVE_OPTIONS } from '../serve-options.ts'

export const HEALTH_OPTIONS = {
  host: SERVE_OPTIONS.host,
  port: SERVE_OPTIONS.port,
  basePath: SERVE_OPTIONS.basePath,
  timeout: {
    flags: '--timeout <seconds>',
    description: 'how long to wait for the answer',
    default: '5',
    schema: integer(1, 3_600),
  },
} as const satisfies Record<string, OptionRow>

export type HealthConfig = Config<typeof HEALTH_OPTIONS>
