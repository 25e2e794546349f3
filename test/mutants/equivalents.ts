// Mutants that change nothing anybody could see, each with its reason: they are not counted.
import type { PlacedMutant } from './try-mutant.ts'

export interface Equivalent {
  readonly path: string
  /** The whole line, without the white space around it. */
  readonly line: string
  /** What is replaced in it, and by what; every mutant of the line where neither is given. */
  readonly from?: string
  readonly to?: string
  readonly reason: string
}

const EQUIVALENTS: readonly Equivalent[] = []

export function equivalentOf({ path, line, from, to }: PlacedMutant): Equivalent | undefined {
  return EQUIVALENTS.find(
    (known) =>
      known.path === path &&
      known.line === line &&
      (known.from === undefined || known.from === from) &&
      (known.to === undefined || known.to === to),
  )
}
