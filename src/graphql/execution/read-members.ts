// Takes the members of a selection out of a stored document, as their fields answer them.
import type { HasText } from '../../resolvers/documents/member-field.ts'
import type { SelectedMembers } from './plan/type-members.ts'

/** In the order of the selected fields; null for what the document lacks or has of another type. */
export function readMembers(
  { reader, fields, places }: SelectedMembers,
  { text }: HasText,
): readonly (string | null)[] {
  const values = reader.texts(text, places)
  for (let slot = 0; slot < values.length; slot += 1) {
    const written = values[slot]
    if (written != null) values[slot] = fields[slot]?.accept(written) ?? null
  }
  return values
}
