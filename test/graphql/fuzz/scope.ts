// What an operation or a fragment uses, by itself and through the fragments that it spreads.

/** What one definition uses by itself. */
export interface Scope {
  readonly variables: Set<string>
  /** The names of the spread fragments, as often as they are spread. */
  readonly spreads: string[]
  fields: number
}

export function emptyScope(): Scope {
  return { variables: new Set(), spreads: [], fields: 0 }
}

export function reachedFragments({ spreads }: Scope, fragments: ReadonlyMap<string, Scope>): ReadonlySet<string> {
  const reached = new Set(spreads)
  for (const name of reached) for (const inner of fragments.get(name)?.spreads ?? []) reached.add(inner)
  return reached
}

/** A fragment spreads only fragments that were made before it, so there is no cycle. */
export function expandedFields({ fields, spreads }: Scope, fragments: ReadonlyMap<string, Scope>): number {
  let sum = fields
  for (const name of spreads) sum += expandedFields(fragments.get(name) ?? emptyScope(), fragments)
  return sum
}
