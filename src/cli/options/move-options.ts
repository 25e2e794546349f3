// The options of `move`: the two databases, online or offline, and the maximum write pause.
import { storeOptions } from './database-options.ts'
import { booleanOption, type Config, databaseUrl, integer, type OptionRow } from './option.ts'

export const MOVE_OPTIONS = {
  from: {
    flags: '--from <url>',
    description: 'the database to read; no gateway may be serving on it, unless --online is given',
    schema: databaseUrl,
  },
  to: {
    flags: '--to <url>',
    description: 'the database to fill: empty, or left by a move from the same one that was broken off',
    schema: databaseUrl.optional(),
  },
  online: {
    flags: '--online',
    description:
      'while gateways serve on it, which were started with this --to as their --database-next: they go on there',
    schema: booleanOption.optional(),
  },
  maxPause: {
    flags: '--max-pause <milliseconds>',
    description:
      '--online: how long writes may be stopped for the last step; gateways answer 503 to those that wait 5 s',
    default: '3000',
    schema: integer(10, 30_000),
  },
  cancel: {
    flags: '--cancel',
    description: '--from goes on as if an online move that was broken off had never begun',
    schema: booleanOption.optional(),
  },
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type MoveConfig = Config<typeof MOVE_OPTIONS>
