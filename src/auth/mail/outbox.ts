// Sends the mails in the outbox: leases each mail, so that only one of several gateways sends it, and retries with
// backoff.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../../store/contract.ts'
import type { OutboxMail, SettledMail } from '../../store/sign-in/code-contract.ts'
import type { Audit } from '../audit/audit-event.ts'
import { auditedAsker } from './audited-asker.ts'
import { composeCodeMail } from './code-mail.ts'
import type { DerivedCodes } from './derived-codes.ts'
import { MailError, type MailServer } from './mail-server.ts'

/** Mails that one process sends concurrently. Most mail servers accept a few more connections. */
const CONCURRENT_MAILS = 4
/** Longer than a send can take (40 s), so that no other process begins while the send may still succeed. */
const LEASE_MS = 60_000
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000
const SETTLE_RETRY_MS = 500
const MINUTE_MS = 60_000

export interface OutboxOptions {
  readonly store: Pick<Store, 'leaseMails' | 'settleMails'>
  readonly codes: DerivedCodes
  readonly server: MailServer
  readonly audit: Audit
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /**
   * Aborts sends in flight when the shutdown cannot wait for them any longer. Those mails are due again at the next
   * start.
   */
  readonly stop: AbortSignal
  /** Logs a failed send. The mail is due again after `retryMs` milliseconds; null means that it was given up. */
  readonly onFailure: (error: unknown, retryMs: number | null) => void
}

export interface Outbox {
  /**
   * Sends the mails that are due, and returns when no other is due: a few may still be in flight. Throws the errors of
   * mails whose code could not be read or whose outcome could not be recorded; these are due again later.
   */
  readonly sendDue: (isStopping: () => boolean) => Promise<void>
  /** Waits until no mail is in flight: one whose outcome is not recorded would be sent again. */
  readonly finish: () => Promise<void>
}

/**
 * Sends every mail that is due. A mail is sent twice only if the process was killed or cut off from the database
 * between the mail server's acceptance and the record of it. The second copy has the same Message-ID and the same code.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, codes, server, audit, clock, stop, onFailure } = options
  const owner = randomUUID()
  /** By the id of the mail. */
  const inFlight = new Map<string, Promise<void>>()
  let failures: readonly unknown[] = []

  async function send(mail: OutboxMail): Promise<SettledMail> {
    const { id, kid, email, network, agent, askedAt, expiresAt } = mail
    const code = await codes.codeOf(id, kid)
    // The signing key was removed, and with it the code.
    if (code === null) return { id, dueAt: null, isGivenUp: true }
    const validMinutes = Math.max(1, Math.floor((expiresAt - clock()) / MINUTE_MS))
    const about = auditedAsker(email, network)
    try {
      const body = composeCodeMail({ code, network, agent, askedAt, validMinutes })
      await server.send({ id, to: email, ...body }, stop)
      audit.record({ kind: 'code', result: 'done', ...about, detail: 'sent' })
      return { id, dueAt: null, isGivenUp: false }
    } catch (error) {
      const isFinal = error instanceof MailError && error.isPermanent
      const retryMs = isFinal ? null : Math.min(FIRST_RETRY_MS * 2 ** (mail.attempts - 1), MAX_RETRY_MS)
      audit.record({ kind: 'code', result: 'failed', ...about, detail: 'not sent' })
      onFailure(error, retryMs)
      return { id, dueAt: retryMs === null ? null : clock() + retryMs, isGivenUp: isFinal }
    }
  }

  /**
   * Records the outcome. Retries while the database is unreachable, because a sent mail without a record would be sent
   * again.
   */
  async function settle(settled: SettledMail): Promise<void> {
    const giveUpAt = performance.now() + LEASE_MS
    for (;;) {
      try {
        await store.settleMails(owner, [settled])
        return
      } catch (error) {
        if (performance.now() > giveUpAt) throw error
        await delay(SETTLE_RETRY_MS)
      }
    }
  }

  function start(mail: OutboxMail): void {
    // Its lease has ended while its outcome is being recorded.
    if (inFlight.has(mail.id)) return
    const sending = send(mail)
      .then(settle)
      .catch((error: unknown) => {
        failures = [...failures, error]
      })
      .finally(() => inFlight.delete(mail.id))
    inFlight.set(mail.id, sending)
  }

  function throwFailures(): void {
    const reasons = failures
    failures = []
    if (reasons.length > 1) throw new AggregateError(reasons)
    if (reasons.length > 0) throw reasons[0]
  }

  return {
    async sendDue(isStopping) {
      while (!isStopping()) {
        throwFailures()
        const limit = CONCURRENT_MAILS - inFlight.size
        const mails = await store.leaseMails({ owner, leaseMs: LEASE_MS, limit }, clock())
        for (const mail of mails) start(mail)
        if (mails.length < limit) return
        // Each place takes the next mail as soon as it is free, so a slow mail holds up no other.
        await Promise.race(inFlight.values())
      }
    },
    async finish() {
      await Promise.all(inFlight.values())
    },
  }
}
