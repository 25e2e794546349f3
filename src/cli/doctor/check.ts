// A check of the doctor: what it looks at, and what it finds with the line of configuration that mends it.
import { reasonOf } from '../../errors.ts'

/** What a line is for; `run` is a command. */
export type Place = 'gateway' | 'nginx' | 'haproxy' | 'caddy' | 'postgresql' | 'run'

/** A line for each place that could mend it; one of them is enough. */
export type Fix = Readonly<Partial<Record<Place, string>>>

export interface Problem {
  /** One sentence: what is wrong and what it does to somebody. */
  readonly problem: string
  readonly fix: Fix
}

export interface NotChecked {
  /** One sentence: what was missing to look at it. */
  readonly reason: string
}

/** Null when nothing is wrong. */
export type Verdict = Problem | NotChecked | null

export interface Check<C> {
  /** Stable, for programs that read the report. */
  readonly name: string
  readonly run: (context: C) => Promise<Verdict> | Verdict
}

export type Outcome = { readonly check: string } & (Problem | NotChecked | { readonly isFine: true })

/** All at once, answered in order. A check that throws was not made, which is said with the reason. */
export function runChecks<C>(checks: readonly Check<C>[], context: C): Promise<readonly Outcome[]> {
  return Promise.all(
    checks.map(async ({ name, run }): Promise<Outcome> => {
      try {
        return { check: name, ...((await run(context)) ?? { isFine: true }) }
      } catch (error) {
        return { check: name, reason: `it failed: ${reasonOf(error)}` }
      }
    }),
  )
}
