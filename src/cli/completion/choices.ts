// Finds the values of an option whose schema is an enumeration.
import { z } from 'zod'
import type { OptionRow } from '../options/option.ts'

/** Returns an empty list when the values cannot be listed. */
export function choicesOf({ schema }: OptionRow): readonly string[] {
  const { enum: choices = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return choices.filter((choice) => typeof choice === 'string')
}
