// What a check is: a sentence about a server of the contract, who says so, and how to find out.
import { CannotTellError } from './cannot-tell.ts'
import { NoAnswerError } from './exchange.ts'
import type { Probe } from './probe.ts'

/**
 * `contract`: the text of the contract. `standard`: the RFC it stands on. `safety`: what nobody's server may do.
 * `gateway`: the contract is silent, and this is how the gateway answers.
 */
export type CheckSource = 'contract' | 'standard' | 'safety' | 'gateway'

export interface Check {
  readonly group: string
  /** A sentence that is so on a server that is right. */
  readonly name: string
  readonly source: CheckSource
  /** Null when it is so; else what was found in its place, without tokens. Throws `CannotTellError`. */
  readonly run: (probe: Probe) => Promise<string | null>
}

/** `silent`: the server does it otherwise than the gateway, and the contract does not say. */
export type Outcome = 'pass' | 'fail' | 'silent' | 'skipped'

export interface CheckResult extends Omit<Check, 'run'> {
  readonly outcome: Outcome
  /** What was found, or why it was skipped; empty for what passed. */
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

/** Null when the status is one of these. */
export function unlessStatus({ status }: { readonly status: number }, ...expected: readonly number[]): string | null {
  return expected.includes(status) ? null : `answered ${status}`
}
