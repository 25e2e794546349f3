// The option --config, which every command has and which names a configuration file.
import { z } from 'zod'
import type { OptionRow } from '../options/option.ts'

export const configOption = {
  flags: '--config <path>',
  description: 'a YAML file with options; flags and environment variables override it',
  schema: z.string().min(1, 'must not be empty').optional(),
} as const satisfies OptionRow
