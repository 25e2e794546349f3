// Defines a check of the doctor and its result: a finding comes with the line of configuration that fixes it.
import { reasonOf } from '../../errors.ts'

/** The program that a line of configuration is for. `run` is a command to run. */
export type Place = 'gateway' | 'nginx' | 'haproxy' | 'caddy' | 'apache' | 'postgresql' | 'run'

/** One line for each place where the problem can be fixed. One of them is enough. */
export type Fix = Readonly<Partial<Record<Place, string>>>

/** A login guard for a gateway that others reach, with the options without which it does not start. */
export const MAIL_GUARD = '--login-guard mail --mail-url smtps://USER:PASSWORD@HOST --mail-from ADDRESS'

export interface Problem {
  /** One sentence: what is wrong, and whom it affects and how. */
  readonly problem: string
  readonly fix: Fix
}

export interface NotChecked {
  /** One sentence: why the check could not be made. */
  readonly reason: string
}

/** The result of a check. Null when nothing is wrong. */
export type Verdict = Problem | NotChecked | null

export interface Check<C> {
  /** A stable name, for programs that read the report. */
  readonly name: string
  readonly run: (context: C) => Promise<Verdict> | Verdict
}

export type Outcome = { readonly check: string } & (Problem | NotChecked | { readonly isFine: true })

/**
 * Runs all checks concurrently and returns the outcomes in order. A check that throws counts as not made, with the
 * reason.
 */
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
