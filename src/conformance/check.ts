// Defines a check: a statement about a server of the contract, the source of the statement, and a function that tests
// it.
import { isSuccess } from '../import-export/remote/answer.ts'
import { CannotTellError } from './cannot-tell.ts'
import { NoAnswerError } from './exchange.ts'
import type { Probe } from './probe.ts'

/**
 * `contract`: the text of the contract. `standard`: an RFC that the contract builds on. `safety`: what no server may
 * do. `gateway`: the contract does not say, and the gateway behaves like this.
 */
export type CheckSource = 'contract' | 'standard' | 'safety' | 'gateway'

export interface Check {
  readonly group: string
  /** A sentence that is true for a correct server. */
  readonly name: string
  readonly source: CheckSource
  /** Null if the sentence is true; otherwise what was found instead, without tokens. Throws `CannotTellError`. */
  readonly run: (probe: Probe) => Promise<string | null>
}

/** `silent`: the server behaves differently from the gateway, and the contract does not say which is right. */
export type Outcome = 'pass' | 'fail' | 'silent' | 'skipped'

export interface CheckResult extends Omit<Check, 'run'> {
  readonly outcome: Outcome
  /** What was found, or why the check was skipped; empty if it passed. */
  readonly found: string
}

export async function runCheck({ run, ...check }: Check, probe: Probe): Promise<CheckResult> {
  try {
    const found = await run(probe)
    if (found === null) return { ...check, outcome: 'pass', found: '' }
    return { ...check, outcome: check.source === 'gateway' ? 'silent' : 'fail', found }
  } catch (error) {
    if (error instanceof NoAnswerError) return { ...check, outcome: 'fail', found: error.found }
    if (!(error instanceof CannotTellError)) throw error
    return { ...check, outcome: 'skipped', found: error.message }
  }
}

/** Null for 2xx. For checks of what an answer does: another check says that the contract gives it 200. */
export function unlessSuccess({ status }: { readonly status: number }): string | null {
  return isSuccess({ status }) ? null : `answered ${status}`
}

/** Null if the status is one of the expected ones. */
export function unlessStatus({ status }: { readonly status: number }, ...expected: readonly number[]): string | null {
  return expected.includes(status) ? null : `answered ${status}`
}
