// Checks the options of the assertion guard and opens it, for signed or unsigned assertions.
import type { LoginGuard } from '../guard.ts'
import type { GuardServices } from '../guard-services.ts'
import { createAssertionGuard } from './assertion.ts'
import { keyFileProblem, openKeySource } from './keys/open-key-source.ts'
import { type AssertionOptions, assertionProblems, assertionSettings } from './settings.ts'
import { createUnsignedAssertionGuard, MIN_SECRET_LENGTH, type UnsignedAssertionOptions } from './unsigned.ts'

/** Minimum milliseconds between two loads of the issuer's keys that unknown keys cause. */
const REFETCH_MS = 3_000

/** Exactly one of the two must be set. */
export interface AssertionGuardOptions {
  readonly signed: AssertionOptions | null
  readonly unsigned: (UnsignedAssertionOptions & { readonly hasTrustedProxies: boolean }) | null
}

type AssertionGuardServices = Pick<GuardServices, 'clock' | 'report'>

const NEITHER =
  'login guard "assertion" needs the options assertion-preset and assertion-audience, or assertion-header-unsigned'
const UNSIGNED = 'assertion-header-unsigned'

export function assertionGuardProblems({ signed, unsigned }: AssertionGuardOptions): readonly string[] {
  if (signed && unsigned) return [`${UNSIGNED} and assertion-preset: give only one of them`]
  if (signed) return assertionProblems(signed)
  if (!unsigned) return [NEITHER]
  return [
    ...(unsigned.hasTrustedProxies ? [] : [`${UNSIGNED} needs trusted-proxy: the addresses of the proxy`]),
    ...(unsigned.secretHeader === ''
      ? [`${UNSIGNED} needs assertion-secret-header: the name of a header that the proxy sets`]
      : []),
    ...(unsigned.secretHeader === unsigned.header
      ? [`${UNSIGNED} and assertion-secret-header name the same header: the email and the secret need one each`]
      : []),
    ...(unsigned.secret.length < MIN_SECRET_LENGTH
      ? [`${UNSIGNED} needs assertion-secret, better in the environment: at least ${MIN_SECRET_LENGTH} characters`]
      : []),
    ...(unsigned.secret === '' || isHeaderValue(unsigned.secret)
      ? []
      : ['assertion-secret must be ASCII without spaces at its ends: no other text arrives unchanged in a header']),
  ]
}

/** The problems in the files that the options name. The guard reads these files again while it runs. */
export async function assertionFileProblems({ signed }: AssertionGuardOptions): Promise<readonly string[]> {
  const problem = signed && (await keyFileProblem(assertionSettings(signed).keysAt))
  return problem === null ? [] : [`assertion-keys: ${problem}`]
}

/** Opens the guard for options without problems. */
export function openAssertionGuard(options: AssertionGuardOptions, services: AssertionGuardServices): LoginGuard {
  if (options.unsigned) return createUnsignedAssertionGuard(options.unsigned)
  if (!options.signed) throw new Error(NEITHER)
  const settings = assertionSettings(options.signed)
  const report = reportOnce((error) => services.report(error, 'the keys of the identity provider could not be loaded'))
  const keys = openKeySource(settings.keysAt, { refetchMs: REFETCH_MS, report })
  return createAssertionGuard({ settings, keys, clock: services.clock, report })
}

/** Servers read headers as Latin-1, proxies may write UTF-8, and white space around a value is dropped. */
function isHeaderValue(secret: string): boolean {
  return /^[\x20-\x7e]+$/.test(secret) && secret.trim() === secret
}

/** Reports each error once: all sign-ins that wait for the same load of the keys fail with the same one. */
function reportOnce(report: (error: unknown) => void): (error: unknown) => void {
  const reported = new WeakSet<object>()
  return (error) => {
    if (error instanceof Error) {
      if (reported.has(error)) return
      reported.add(error)
    }
    report(error)
  }
}
