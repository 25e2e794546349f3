// Defines a row of the benchmark. A file in `rows/` exports one or more `Row`s, and `rows.ts` lists them in order.
//
// A row measures with the means of `Bench`. It returns the lines of its table, its goals with their figures, and its
// data for the machine-readable output. It never prints, and it ends every process that it started.
import type { Bench } from './bench.ts'

export interface Row {
  /** `--only` selects rows by this name. It is also the key in the output. */
  readonly name: string
  /** Returns `skipped` when the row cannot run on this machine. Throws on failure. */
  readonly run: (bench: Bench) => Promise<RowResult>
}

export interface RowResult {
  /** The lines of the row's table, without line ends. */
  readonly lines: readonly string[]
  readonly goals: readonly Goal[]
  /** Any JSON value. */
  readonly data: unknown
  /** The reason why the row did not run. */
  readonly skipped?: string
}

/** A goal is missed when the figure is below `atLeast`, above `atMost`, or not a number. */
export type Goal = {
  /** What is compared with what, in a few words. */
  readonly what: string
  readonly figure: number
  /** Unit of the figure; none for a ratio. */
  readonly unit?: string
  /** A remark printed beside the figure. */
  readonly note?: string
  /** What limits the figure. Printed when the goal is missed. */
  readonly why?: string
} & ({ readonly atLeast: number } | { readonly atMost: number })

export function isMet(goal: Goal): boolean {
  return 'atLeast' in goal ? goal.figure >= goal.atLeast : goal.figure <= goal.atMost
}

export function toGoalLine(goal: Goal): string {
  const { what, note, why } = goal
  const line = `goal ${isMet(goal) ? 'met' : 'SHORT'}: ${what} ${toBound(goal)}: ${toFigure(goal)}`
  const beside = note === undefined ? '' : ` (${note})`
  return isMet(goal) || why === undefined ? line + beside : `${line}${beside}: ${why}`
}

export function toFigure({ figure, unit }: Goal): string {
  return withUnit(figure, unit)
}

export function toBound(goal: Goal): string {
  return 'atLeast' in goal ? `≥ ${withUnit(goal.atLeast, goal.unit)}` : `≤ ${withUnit(goal.atMost, goal.unit)}`
}

function withUnit(value: number, unit: string | undefined): string {
  return `${round(value)}${unit === undefined ? '' : ` ${unit}`}`
}

function round(value: number): string {
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 2 : 3
  return String(Number(value.toFixed(decimals)))
}
