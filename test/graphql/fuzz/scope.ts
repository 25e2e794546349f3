// What an operation or a fragment uses, by itself and through the fragments it spreads.

/** Of one definition by itself. */
export interface Scope {
  readonly variables: Set<string>
  /** By name, as often as they are spread. */
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

/** Fragments spread only those made before them: there is no circle. */
export function expandedFields({ fields, spreads }: Scope, fragments: ReadonlyMap<string, Scope>): number {
  let sum = fields
  for (const name of spreads) sum += expandedFields(fragments.get(name) ?? emptyScope(), fragments)
  return sum
}
