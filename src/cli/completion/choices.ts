// The values that an option has, where its check knows no others.
import { z } from 'zod'
import type { OptionRow } from '../options/option.ts'

/** Empty when they cannot be listed. */
export function choicesOf({ schema }: OptionRow): readonly string[] {
  const { enum: choices = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return choices.filter((choice) => typeof choice === 'string')
}
