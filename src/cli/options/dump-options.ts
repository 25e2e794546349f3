// The options of `dump`: which user, and the output file.
import { z } from 'zod'
import { database, storeOptions } from './database-options.ts'
import { email } from './operator-options.ts'
import type { Config, OptionRow } from './option.ts'

export const DUMP_OPTIONS = {
  database,
  email,
  output: {
    flags: '--output <path>',
    description: 'write to a file that does not exist yet, instead of stdout (-)',
    schema: z.string().min(1, 'must not be empty').optional(),
  },
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type DumpConfig = Config<typeof DUMP_OPTIONS>
