// Wraps sign-in and sign-out so that their outcomes are recorded in the audit log.
import { statusOf } from '../../errors.ts'
import type { Caller } from '../caller.ts'
import { emailWithoutCode } from '../mail/code-spelling.ts'
import type { SignIn } from '../sign-in.ts'
import { toGatewayError } from '../to-gateway-error.ts'
import type { Audit, AuditKind } from './audit-event.ts'

/** The same sign-in with auditing. A successful refresh is not recorded, because there are too many of them. */
export function withAudit(signIn: SignIn, audit: Audit): SignIn {
  async function refusalsOf<T>(
    kind: AuditKind,
    run: () => Promise<T>,
    about: { readonly email?: string | undefined; readonly address: string },
  ): Promise<T> {
    try {
      return await run()
    } catch (error) {
      const failure = toGatewayError(error)
      // A refusal is a decision, so it has no cause.
      const isRefusal = failure.cause === undefined || statusOf(failure.code) < 500
      audit.record({ kind, result: isRefusal ? 'refused' : 'failed', detail: failure.code, ...about })
      throw error
    }
  }

  function addressOf({ client }: Caller): string {
    return client.address
  }

  return {
    async login(sent, caller) {
      const email = emailWithoutCode(sent.email) ?? undefined
      const about = { email, address: addressOf(caller) }
      const tokens = await refusalsOf('login', () => signIn.login(sent, caller), about)
      audit.record({ kind: 'login', result: 'done', ...about })
      return tokens
    },
    refresh: (refreshToken, caller) =>
      refusalsOf('refresh', () => signIn.refresh(refreshToken, caller), { address: addressOf(caller) }),
    logout: (refreshToken, caller) =>
      refusalsOf('logout', () => signIn.logout(refreshToken, caller), { address: addressOf(caller) }),
  }
}
