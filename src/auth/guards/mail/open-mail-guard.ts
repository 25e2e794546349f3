// Wires the mail guard together, and runs its decisions and its mails in the background.
import { randomInt } from 'node:crypto'
import type { CodeRules } from '../../../store/sign-in/code-contract.ts'
import { createDerivedCodes } from '../../mail/derived-codes.ts'
import { createMailServer, type MailServerOptions } from '../../mail/mail-server.ts'
import { createOutbox } from '../../mail/outbox.ts'
import { createPoller } from '../../mail/poller.ts'
import { createCodeRequests } from '../../mail/requests.ts'
import type { LoginGuard } from '../guard.ts'
import type { GuardServices } from '../guard-services.ts'
import { createMailGuard } from './mail.ts'

/**
 * Interval of looking for work that others left: requests and mails of a gateway that was killed, and mails to retry.
 */
const POLL_MS = 2_000
/** A decision is made after a random delay in this range after the request. */
const [MIN_DECISION_DELAY_MS, MAX_DECISION_DELAY_MS] = [50, 250]
/** How long the shutdown waits for mails in flight. */
const STOP_GRACE_MS = 3_000

const HOUR_MS = 3_600_000
const FIXED_RULES = {
  windowMs: HOUR_MS,
  codeTtlMs: 600_000,
  knownNetworkTtlMs: 180 * 24 * HOUR_MS,
  maxPerAddressAndNetwork: 5,
}

/** The operator sets the remaining rules. The maxima are mails per hour. */
export interface MailGuardOptions extends Omit<CodeRules, keyof typeof FIXED_RULES> {
  readonly server: MailServerOptions
  /** Canonical email domains; empty for all. */
  readonly domains: readonly string[]
}

export function openMailGuard(options: MailGuardOptions, services: GuardServices): LoginGuard {
  const { store, keyset, limits, audit, clock, report, running } = services
  const { isForKnownUsersOnly, maxPerAddress, maxPerNetwork, maxTotal } = options
  const rules: CodeRules = { ...FIXED_RULES, isForKnownUsersOnly, maxPerAddress, maxPerNetwork, maxTotal }
  const codes = createDerivedCodes(keyset)
  const domains = options.domains.length === 0 ? null : new Set(options.domains)
  const requests = createCodeRequests({ store, codes, rules, domains, audit, clock })
  const stop = new AbortController()
  const outbox = createOutbox({
    store,
    codes,
    server: createMailServer(options.server),
    audit,
    clock,
    stop: stop.signal,
    onFailure(error, retryMs) {
      report(
        error,
        retryMs === null
          ? 'a mail was not sent, and will not be tried again'
          : 'a mail was not sent, and will be tried again',
      )
      if (retryMs !== null) setTimeout(() => sender.wake(), retryMs).unref()
    },
  })
  const reportTo = (what: string) => (error: unknown) => report(error, what)
  running.defer(outbox.finish)
  const sender = running.use(createPoller(outbox.sendDue, POLL_MS, reportTo('the outbox could not be read')))
  // The stack is disposed of last in, first out, so this timer starts before the shutdown waits for mails in flight.
  running.defer(() => {
    setTimeout(() => stop.abort(), STOP_GRACE_MS).unref()
  })
  const decider = running.use(
    createPoller(
      async () => {
        if (await requests.decide()) sender.wake()
      },
      POLL_MS,
      reportTo('requests for a code could not be processed'),
    ),
  )
  let isAsked = false
  /**
   * Wakes the decider a while after the response: its time depends on the address, and must not show in this or the
   * next response.
   */
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
