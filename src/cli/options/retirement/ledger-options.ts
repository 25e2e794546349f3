// The options of the ledger of REST calls: its retention in `serve`, and those of the command `ledger`.
import { database, storeOptions } from '../database-options.ts'
import { json } from '../operator-options.ts'
import { type Config, day, duration, inGroup, type OptionRow } from '../option.ts'

export const ledgerOptions = inGroup('Retiring REST', {
  ledgerRetention: {
    flags: '--ledger-retention <time>',
    description: 'how long the ledger of REST calls keeps its daily counts, in days or hours; 0 for no ledger',
    default: '400d',
    schema: duration,
  },
})

export const LEDGER_OPTIONS = {
  database,
  from: {
    flags: '--from <day>',
    description: 'only calls on this day (UTC) or later, such as 2026-01-31',
    schema: day.optional(),
  },
  to: {
    flags: '--to <day>',
    description: 'only calls before this day',
    schema: day.optional(),
  },
  json: { ...json, description: 'write one JSON object per line, for each day, route and client' },
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type LedgerCommandConfig = Config<typeof LEDGER_OPTIONS>
