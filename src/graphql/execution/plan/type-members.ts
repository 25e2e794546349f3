// Finds the fields of a type that are members of its stored documents, and creates one member reader per type for all
// plans.
import type { GraphQLObjectType } from 'graphql'
import { type MemberField, memberOf } from '../../../resolvers/documents/member-field.ts'
import { createMemberReader, type MemberReader } from '../../../resolvers/documents/member-reader.ts'

/**
 * A reader learns the layout of documents, not of plans. With one reader per selection, cached plans held many copies
 * of that.
 */
export interface TypeMembers {
  readonly reader: MemberReader
  /** Names of the members that the reader looks for. */
  readonly names: readonly string[]
}

export type MembersOf = (type: GraphQLObjectType) => TypeMembers

/** The members that a selection reads, each once. */
export interface SelectedMembers {
  readonly reader: MemberReader
  readonly fields: readonly MemberField[]
  /** Index of each field in the names of the reader. */
  readonly places: readonly number[]
}

export function createMembersOf(): MembersOf {
  const made = new Map<GraphQLObjectType, TypeMembers>()
  return (type) => {
    const known = made.get(type)
    if (known) return known
    const all = Object.values(type.getFields()).flatMap(({ resolve }) => memberOf(resolve)?.name ?? [])
    const names = [...new Set(all)]
    const members: TypeMembers = { reader: createMemberReader(names), names }
    made.set(type, members)
    return members
  }
}

/** Null if there are no fields. */
export function selectMembers({ reader, names }: TypeMembers, fields: readonly MemberField[]): SelectedMembers | null {
  if (fields.length === 0) return null
  return { reader, fields, places: fields.map(({ name }) => names.indexOf(name)) }
}
