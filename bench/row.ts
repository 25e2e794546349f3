// What a row of the benchmark is: a file in `rows/` exports one or several `Row`s, and `rows.ts` lists them in order.
//
// A row measures what it likes with what `Bench` offers and answers with the lines of its table, its goals with the figures
// they are judged by, and its data for the machine-readable output. It never prints, and ends whatever it started.
import type { Bench } from './bench.ts'

export interface Row {
  /** What `--only` selects by, and the key in the output. */
  readonly name: string
  /** A row that cannot run on this machine answers `skipped`; what goes wrong is thrown. */
  readonly run: (bench: Bench) => Promise<RowResult>
}

export interface RowResult {
  /** The row's table, one line each, without line ends. */
  readonly lines: readonly string[]
  readonly goals: readonly Goal[]
  /** Whatever JSON can hold. */
  readonly data: unknown
  /** Why the row did not run. */
  readonly skipped?: string
}

/** Short when the figure is below `atLeast` or above `atMost`, or is not a number. */
export type Goal = {
  /** Both sides of the comparison, in a few words. */
  readonly what: string
  readonly figure: number
  /** Of the figure; none for a ratio. */
  readonly unit?: string
  /** What to know beside the figure. */
  readonly note?: string
  /** What stands in the way, told when it is short. */
  readonly why?: string
} & ({ readonly atLeast: number } | { readonly atMost: number })

export function isMet(goal: Goal): boolean {
  return 'atLeast' in goal ? goal.figure >= goal.atLeast : goal.figure <= goal.atMost
}

export function toGoalLine(goal: Goal): string {
  const { what, figure, unit, note, why } = goal
  const withUnit = (value: number) => `${round(value)}${unit === undefined ? '' : ` ${unit}`}`
  const bound = 'atLeast' in goal ? `≥ ${withUnit(goal.atLeast)}` : `≤ ${withUnit(goal.atMost)}`
  const line = `goal ${isMet(goal) ? 'met' : 'SHORT'}: ${what} ${bound}: ${withUnit(figure)}`
  const beside = note === undefined ? '' : ` (${note})`
  return isMet(goal) || why === undefined ? line + beside : `${line}${beside}: ${why}`
}

function round(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toFixed(2)))
}
