// Bounds how often a document repeats a field: validation compares each field with each other one that it merges with.
import { type ASTNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql'

/**
 * Maximum pairs of fields with selections that merge into one. Comparing a pair takes up to a microsecond. A pair of
 * fields without selections takes a twentieth of that, and graphql-js has a limit for it.
 */
const MAX_PAIRS = 25_000

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/**
 * Whether the selection has more pairs. `fieldCount` is its number of fields with every fragment expanded, and bounds
 * the walk: a circle of fragments, which validation refuses later, has no end.
 */
export function repeatsTooOften(set: SelectionSetNode, fragments: Fragments, fieldCount: number): boolean {
  const merged: (readonly SelectionSetNode[])[] = [[set]]
  let pairs = 0
  for (let at = 0; at < merged.length && at <= fieldCount; at += 1) {
    for (const sets of setsByName(merged[at] ?? [], fragments).values()) {
      pairs += (sets.length * (sets.length - 1)) / 2
      if (pairs > MAX_PAIRS) return true
      merged.push(sets)
    }
  }
  return false
}

export function tooManyRepetitions(nodes: ASTNode | readonly ASTNode[]): GraphQLError {
  return new GraphQLError('The document repeats its fields too often to compare them all: ask for less at once.', {
    nodes,
  })
}

/** The selections of the fields by response name. Each fragment is followed once, as its fields merge with themselves. */
function setsByName(
  merged: readonly SelectionSetNode[],
  fragments: Fragments,
): ReadonlyMap<string, readonly SelectionSetNode[]> {
  const byName = new Map<string, SelectionSetNode[]>()
  const followed = new Set<string>()

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const { value: name } = selection.name
        const fragment = followed.has(name) ? undefined : fragments.get(name)
        followed.add(name)
        if (fragment) collect(fragment.selectionSet)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet)
      } else if (selection.selectionSet) {
        const name = selection.alias?.value ?? selection.name.value
        const sets = byName.get(name)
        if (sets) sets.push(selection.selectionSet)
        else byName.set(name, [selection.selectionSet])
      }
    }
  }

  for (const set of merged) collect(set)
  return byName
}
