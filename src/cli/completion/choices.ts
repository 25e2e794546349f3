// Finds the values of an option that can be listed: those of an enumeration, also within a list or a union.
import { z } from 'zod'
import type { OptionRow } from '../options/option.ts'

/** Returns an empty list when the values cannot be listed. Of a union, the parts that can be listed count. */
export function choicesOf({ schema }: OptionRow): readonly string[] {
  // The input of a list is one text, so its choices are known of the output only.
  return choicesIn(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }))
}

function choicesIn(schema: z.core.JSONSchema._JSONSchema): readonly string[] {
  if (typeof schema === 'boolean') return []
  const { enum: choices = [], const: only, items = [], anyOf = [] } = schema
  return [
    ...[...choices, only].filter((choice) => typeof choice === 'string'),
    ...[items, anyOf].flat().flatMap(choicesIn),
  ]
}
