// The options of `move`: the two databases, online or offline, and the maximum write pause.
import { storeOptions } from './database-options.ts'
import { booleanOption, type Config, databaseUrl, integer, type OptionRow } from './option.ts'

export const MOVE_OPTIONS = {
  from: {
    flags: '--from <url>',
    description: 'the database to read; no gateway may serve on it, unless --online is given',
    schema: databaseUrl,
  },
  to: {
    flags: '--to <url>',
    description: 'the database to fill: empty, or partly filled by an interrupted move from the same database',
    schema: databaseUrl.optional(),
  },
  online: {
    flags: '--online',
    description:
      'move while gateways serve on --from; they need this --to as their --database-next, and continue on it after the move',
    schema: booleanOption.optional(),
  },
  maxPause: {
    flags: '--max-pause <milliseconds>',
    description: '--online: how long the last step may stop writes; gateways answer 503 to writes that wait 5 s',
    default: '3000',
    schema: integer(10, 30_000),
  },
  cancel: {
    flags: '--cancel',
    description: 'cancel an interrupted online move: --from continues as if the move had never begun',
    schema: booleanOption.optional(),
  },
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type MoveConfig = Config<typeof MOVE_OPTIONS>
