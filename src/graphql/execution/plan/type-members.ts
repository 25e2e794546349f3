// The fields of a type that are members of its stored documents, and the one reader that takes them for all plans.
import type { GraphQLObjectType } from 'graphql'
import { type MemberField, memberOf } from '../../../resolvers/documents/member-field.ts'
import { createMemberReader, type MemberReader } from '../../../resolvers/documents/member-reader.ts'

/** What a reader learns is of documents, not of plans. With one for each selection kept plans held on to it many times over. */
export interface TypeMembers {
  readonly reader: MemberReader
  /** What the reader looks for. */
  readonly names: readonly string[]
}

export type MembersOf = (type: GraphQLObjectType) => TypeMembers

/** The members that a selection takes, each once. */
export interface SelectedMembers {
  readonly reader: MemberReader
  readonly fields: readonly MemberField[]
  /** Of the fields, in what the reader looks for. */
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

/** Null for no fields. */
export function selectMembers({ reader, names }: TypeMembers, fields: readonly MemberField[]): SelectedMembers | null {
  if (fields.length === 0) return null
  return { reader, fields, places: fields.map(({ name }) => names.indexOf(name)) }
}
