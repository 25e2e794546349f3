// Bounds how often a document repeats a field: validation compares each field with each other one that it merges with.
import { type ASTNode, type FragmentDefinitionNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql'

/**
 * Maximum pairs of fields with selections that merge into one. Comparing a pair takes up to a microsecond. A pair of
 * fields without selections takes a twentieth of that, and graphql-js has a limit for it.
 */
const MAX_PAIRS = 25_000
/**
 * Maximum selections that the search for them reads in a document. A fragment is read again for each group of fields
 * that it is in, so without this bound the search could take longer than the comparisons that it prevents. A document
 * without repetitions has each selection read a few times.
 */
export const MAX_SELECTIONS_READ = 50_000

/** What is left of `MAX_SELECTIONS_READ` for the rest of a document. */
export interface ReadBudget {
  left: number
}

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/**
 * Whether the selection has more pairs, or uses up the budget. `fieldCount` is its number of fields with every fragment
 * expanded, and ends the walk of a circle of fragments, which validation refuses later.
 */
export function repeatsTooOften(
  set: SelectionSetNode,
  fragments: Fragments,
  fieldCount: number,
  budget: ReadBudget,
): boolean {
  const merged: (readonly SelectionSetNode[])[] = [[set]]
  let pairs = 0
  for (let at = 0; at < merged.length && at <= fieldCount; at += 1) {
    for (const sets of setsByName(merged[at] ?? [], fragments, budget).values()) {
      pairs += (sets.length * (sets.length - 1)) / 2
      if (pairs > MAX_PAIRS) return true
      merged.push(sets)
    }
    if (budget.left < 0) return true
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
  budget: ReadBudget,
): ReadonlyMap<string, readonly SelectionSetNode[]> {
  const byName = new Map<string, SelectionSetNode[]>()
  const followed = new Set<string>()

  function collect({ selections }: SelectionSetNode): void {
    budget.left -= 1 + selections.length
    if (budget.left < 0) return
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
