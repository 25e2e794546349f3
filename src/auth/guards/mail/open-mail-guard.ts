// The mail guard at work: its parts put together, its decisions and its mails made behind the requests.
import { randomInt } from 'node:crypto'
import type { Store } from '../../../store/contract.ts'
import type { Audit } from '../../audit/audit-event.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { createDerivedCodes } from '../../mail/derived-codes.ts'
import { createMailServer, type MailServerOptions } from '../../mail/mail-server.ts'
import { createOutbox } from '../../mail/outbox.ts'
import { createPoller } from '../../mail/poller.ts'
import { createCodeRequests } from '../../mail/requests.ts'
import type { Keyset } from '../../tokens/keyset.ts'
import type { LoginGuard } from '../guard.ts'
import { type CodeOptions, codeRules } from './code-rules.ts'
import { createMailGuard } from './mail.ts'

/** How often a process looks for what others have left: requests and mails of a gateway that was killed, mails to be tried again. */
const POLL_MS = 2_000
/** A decision comes this long after the request, at random. */
const [MIN_DECISION_DELAY_MS, MAX_DECISION_DELAY_MS] = [50, 250]
/** How long mails that are being sent are waited for when the gateway stops. */
const STOP_GRACE_MS = 3_000

export interface MailGuardOptions extends CodeOptions {
  readonly server: MailServerOptions
  /** Canonical; empty for all. */
  readonly domains: readonly string[]
}

export interface MailGuardServices {
  readonly store: Store
  readonly keyset: Pick<Keyset, 'signingKey' | 'keyOf'>
  readonly limits: RateLimits
  readonly audit: Audit
  readonly clock: () => number
  readonly report: (error: unknown, what: string) => void
  /** What is running is stopped with it, before the store is closed. */
  readonly running: AsyncDisposableStack
}

export function openMailGuard(options: MailGuardOptions, services: MailGuardServices): LoginGuard {
  const { store, keyset, limits, audit, clock, report, running } = services
  const rules = codeRules(options)
  const codes = createDerivedCodes(keyset)
  const domains = options.domains.length === 0 ? null : new Set(options.domains)
  const requests = createCodeRequests({ store, codes, rules, domains, audit, clock })
  const stop = new AbortController()
  const sendMails = createOutbox({
    store,
    codes,
    server: createMailServer(options.server),
    audit,
    clock,
    stop: stop.signal,
    onFailure(error, retryMs) {
      report(error, retryMs === null ? 'a mail was given up' : 'a mail was not sent, and will be tried again')
      if (retryMs !== null) setTimeout(() => sender.wake(), retryMs).unref()
    },
  })
  const reportTo = (what: string) => (error: unknown) => report(error, what)
  const sender = running.use(createPoller(sendMails, POLL_MS, reportTo('the outbox could not be read')))
  // Before the sender is waited for: what is disposed of comes last in, first out.
  running.defer(() => {
    setTimeout(() => stop.abort(), STOP_GRACE_MS).unref()
  })
  const decider = running.use(
    createPoller(
      async () => {
        if (await requests.decide()) sender.wake()
      },
      POLL_MS,
      reportTo('requests for a code could not be decided on'),
    ),
  )
  let isAsked = false
  /** A while after the answer: what a decision takes depends on the address, and must not show in this answer or the next. */
  function onRequest(): void {
    if (isAsked) return
    isAsked = true
    const wake = () => {
      isAsked = false
      decider.wake()
    }
    setTimeout(wake, randomInt(MIN_DECISION_DELAY_MS, MAX_DECISION_DELAY_MS)).unref()
  }

  return createMailGuard({ store, codes, requests, limits, audit, codeTtlMs: rules.codeTtlMs, clock, onRequest })
}
