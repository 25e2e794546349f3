// Checks the options of shadowing, and connects its reports to the log.
import { createHmac } from 'node:crypto'
import type { Logger } from 'pino'
import { isLoopbackHost } from '../../auth/guards/loopback.ts'
import { UsageError } from '../../errors.ts'
import { createShadowReport } from '../../rest/shadow/shadow-report.ts'
import type { ShadowOptions } from '../../rest/shadow/with-shadow.ts'
import type { AuditVerbs } from '../../store/audit-contract.ts'
import { hashedEmail } from '../../store/hashed-email.ts'
import { withoutSlashes } from '../move-in/remote-address.ts'
import type { ShadowConfig } from '../options/retirement/shadow-options.ts'

/** Throws `UsageError` for options that do not go together, or an address that is unsafe or unsupported. */
export function requireSafeShadow({ shadow, shadowHeaders, answerFrom, shadowInsecure }: ShadowConfig): void {
  if (shadow === undefined) {
    if (shadowHeaders !== undefined) throw new UsageError('--shadow-headers: name the old server with --shadow')
    if (answerFrom === 'old') throw new UsageError('--answer-from old: name the old server with --shadow')
    return
  }
  const { protocol, host, username, password } = new URL(shadow)
  const wrong = [
    ...(protocol === 'http:' || protocol === 'https:' ? [] : ['must be http:// or https://']),
    ...(username === '' && password === ''
      ? []
      : ['must not have a user or a password: put credentials into --shadow-headers']),
    // Tested as text, because `search` and `hash` are empty for a bare ? or #.
    ...(!/[?#]/.test(shadow) ? [] : ['must not contain ? or #']),
    ...(protocol !== 'http:' || isLoopbackHost(host) || shadowInsecure
      ? []
      : ['must be https://, because tokens are sent there; --shadow-insecure allows sending them unencrypted']),
  ]
  if (wrong.length > 0) throw new UsageError(wrong.map((problem) => `--shadow: ${problem}`).join('\n'))
}

/** Undefined without an old server. `maxReads` is the maximum number of connections to it on behalf of clients. */
export async function toShadowOptions(
  config: ShadowConfig,
  headers: Readonly<Record<string, string>>,
  maxReads: number | undefined,
  store: Pick<AuditVerbs, 'auditSalt'>,
  log: Logger,
): Promise<ShadowOptions | undefined> {
  if (config.shadow === undefined) return undefined
  const salt = await store.auditSalt()
  return {
    url: withoutSlashes(config.shadow),
    headers,
    maxReads,
    // A hash, because the salt itself is secret.
    mark: createHmac('sha256', salt).update('shadow').digest('hex'),
    answerFrom: config.answerFrom,
    sample: config.shadowSample,
    concurrency: config.shadowConcurrency,
    maxBytes: config.shadowBytes,
    confirmMs: config.shadowConfirm,
    report: createShadowReport((email) => hashedEmail(email, salt), {
      difference: (shadow) => log.warn({ shadow }, 'the old server answers differently'),
      summary: (shadow) => log.info({ shadow }, 'compared with the old server'),
      failure: (reason) => log.warn({ reason }, 'the old server gives no answer'),
    }),
  }
}
