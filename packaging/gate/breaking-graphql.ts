// Finds the changes of a GraphQL schema that would break clients of an earlier one.
import { buildSchema, findBreakingChanges } from 'graphql'
import type { BreakingChange } from './breaking-change.ts'

export function breakingGraphql(before: string, after: string): readonly BreakingChange[] {
  return findBreakingChanges(buildSchema(before), buildSchema(after)).map(({ description }) => ({
    description,
    // `Project.name`, or the name of a type.
    subject:
      /\b[A-Z]\w*\.\w+/.exec(description)?.[0] ??
      /\b(?!Enum|Union|Interface|Input|Type|Field|Argument)[A-Z]\w*/.exec(description)?.[0] ??
      description,
  }))
}
