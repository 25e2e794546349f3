// The options of `dump`: which user, and the output file.
import { database, storeOptions } from './database-options.ts'
import { email } from './operator-options.ts'
import { type Config, nonEmpty, type OptionRow } from './option.ts'

export const DUMP_OPTIONS = {
  database,
  email,
  output: {
    flags: '--output <path>',
    description: 'write to a file that does not exist yet, instead of stdout (-)',
    schema: nonEmpty.optional(),
  },
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type DumpConfig = Config<typeof DUMP_OPTIONS>
