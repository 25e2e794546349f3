// Wraps sign-in and sign-out so that their outcomes are recorded in the audit log.
import { type FailureCode, statusOf } from '../../errors.ts'
import { emailWithoutCode } from '../mail/code-spelling.ts'
import type { SignIn } from '../sign-in.ts'
import { toGatewayError } from '../to-gateway-error.ts'
import type { Audit, AuditKind } from './audit-event.ts'

/** Refuses nothing: it answers the request for a code, which gets an entry of its own once it is decided on. */
const NO_OUTCOME: FailureCode = 'LOGIN_CODE_SENT'

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
      const { code, cause } = toGatewayError(error)
      // A refusal is a decision, so it has no cause.
      const result = cause === undefined || statusOf(code) < 500 ? 'refused' : 'failed'
      if (code !== NO_OUTCOME) audit.record({ kind, result, detail: code, ...about })
      throw error
    }
  }

  return {
    async login(sent, caller) {
      const email = emailWithoutCode(sent.email) ?? undefined
      const about = { email, address: caller.client.address }
      const tokens = await refusalsOf('login', () => signIn.login(sent, caller), about)
      audit.record({ kind: 'login', result: 'done', ...about })
      return tokens
    },
    refresh: (refreshToken, caller) =>
      refusalsOf('refresh', () => signIn.refresh(refreshToken, caller), { address: caller.client.address }),
    logout: (refreshToken, caller) =>
      refusalsOf('logout', () => signIn.logout(refreshToken, caller), { address: caller.client.address }),
  }
}
