// Runs the contract as checks against any server that implements it, one after the other, so that each check sees only
// its own effects.
import { redirectInWords } from '../import-export/remote/redirect.ts'
import { type CheckResult, runCheck } from './check.ts'
import { EXPORT_CHECKS } from './checks/exports.ts'
import { FAILURE_CHECKS } from './checks/failures.ts'
import { ID_CHECKS } from './checks/ids.ts'
import { LOGIN_CHECKS } from './checks/login.ts'
import { LOGOUT_CHECKS } from './checks/logout.ts'
import { READ_CHECKS } from './checks/reads.ts'
import { TOKEN_CHECKS } from './checks/token.ts'
import type { ProbeAnswer } from './exchange.ts'
import { createProbe, type ProbeOptions } from './probe.ts'

const CHECKS = [
  ...LOGIN_CHECKS,
  ...TOKEN_CHECKS,
  ...LOGOUT_CHECKS,
  ...READ_CHECKS,
  ...ID_CHECKS,
  ...EXPORT_CHECKS,
  ...FAILURE_CHECKS,
]

export interface Conformance {
  readonly checks: readonly CheckResult[]
  /** False if the run was told to stop before its end. */
  readonly isWhole: boolean
  /** Sessions of the run that could not be signed out. */
  readonly sessionsLeftOpen: number
}

/** The server is at another address: without a session, the checks would only repeat that. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError'
}

/**
 * Reads, and opens and ends its own sessions. Changes nothing else on the server. Throws `NoAnswerError` if the server
 * does not answer at all, `BusyError` if it is too busy for the first login, and `RedirectError` if it redirects that.
 */
export async function checkConformance(baseUrl: string, options: ProbeOptions): Promise<Conformance> {
  const { stop } = options
  await using probe = createProbe(baseUrl, options)
  const login = await probe.login().catch((error: unknown) => {
    if (stop.aborted) return null
    throw error
  })
  if (login) requireNoRedirect(login, baseUrl)
  const checks: CheckResult[] = []
  for (const check of stop.aborted ? [] : CHECKS) {
    checks.push(await runCheck(check, probe))
    if (stop.aborted) break
  }
  const isWhole = !stop.aborted
  return { checks, isWhole, sessionsLeftOpen: await probe.signOut() }
}

function requireNoRedirect({ status, headers: { location } }: ProbeAnswer, baseUrl: string): void {
  const headers = new Headers(location === undefined ? {} : { location })
  const redirect = redirectInWords({ status, headers }, baseUrl, '/login')
  if (redirect !== null) throw new RedirectError(`POST ${baseUrl}/login ${redirect}`)
}
