// The option --config, which every command has and which names a configuration file.
import { z } from 'zod'
import type { OptionRow } from '../options/option.ts'

export const configOption = {
  flags: '--config <path>',
  description: 'a YAML file with options that are given neither as flags nor in the environment',
  schema: z.string().min(1, 'must not be empty').optional(),
} as const satisfies OptionRow
