// The option --config, which every command has and which names a configuration file.
import { nonEmpty, type OptionRow } from '../options/option.ts'

export const configOption = {
  flags: '--config <path>',
  description: 'a YAML file with options; flags and environment variables override it',
  schema: nonEmpty.optional(),
} as const satisfies OptionRow
