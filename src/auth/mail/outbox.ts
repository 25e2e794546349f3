// Sends what is in the outbox: each mail leased, so that of many gateways one sends it, and tried again with backoff.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../../store/contract.ts'
import type { OutboxMail } from '../../store/sign-in/code-contract.ts'
import type { Audit } from '../audit/audit-event.ts'
import { auditedAsker } from './audited-asker.ts'
import { composeCodeMail } from './code-mail.ts'
import type { DerivedCodes } from './derived-codes.ts'
import { MailError, type MailServer } from './mail-server.ts'

/** At once, of one process; most mail servers take some more connections. */
const CONCURRENT_MAILS = 4
/** Longer than a send can take (40 s): nobody else begins while it may still succeed. */
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
  /** Aborted when mails that are being sent cannot be waited for any longer; they are due again at the next start. */
  readonly stop: AbortSignal
  /** What failed, for the log; a mail that was not sent is due again after `retryMs`, never when that is null. */
  readonly onFailure: (error: unknown, retryMs: number | null) => void
}

/**
 * Sends every mail that is due. A mail is sent again only when it is not known whether the server took it over: it was killed,
 * or cut off, between the server's answer and the note of it. That copy has the same Message-ID and the same code.
 */
export function createOutbox(options: OutboxOptions): (isStopping: () => boolean) => Promise<void> {
  const { store, codes, server, audit, clock, stop, onFailure } = options
  const owner = randomUUID()

  async function send(mail: OutboxMail): Promise<number | null> {
    const { id, kid, email, network, agent, askedAt, expiresAt } = mail
    const code = await codes.codeOf(id, kid)
    // Its key is gone, and the code with it.
    if (code === null) return null
    const validMinutes = Math.max(1, Math.floor((expiresAt - clock()) / MINUTE_MS))
    const about = auditedAsker(email, network)
    try {
      const body = composeCodeMail({ code, network, agent, askedAt, validMinutes })
      await server.send({ id, to: email, ...body }, stop)
      audit.record({ kind: 'code', result: 'done', ...about, detail: 'sent' })
      return null
    } catch (error) {
      const isFinal = error instanceof MailError && error.isPermanent
      const retryMs = isFinal ? null : Math.min(FIRST_RETRY_MS * 2 ** (mail.attempts - 1), MAX_RETRY_MS)
      audit.record({ kind: 'code', result: 'failed', ...about, detail: 'not sent' })
      onFailure(error, retryMs)
      return retryMs === null ? null : clock() + retryMs
    }
  }

  /** A sent mail that is not noted as sent would be sent again: it is noted as soon as the database is back. */
  async function settle(id: string, dueAt: number | null): Promise<void> {
    const giveUpAt = performance.now() + LEASE_MS
    for (;;) {
      try {
        await store.settleMails(owner, [{ id, dueAt }])
        return
      } catch (error) {
        if (performance.now() > giveUpAt) throw error
        await delay(SETTLE_RETRY_MS)
      }
    }
  }

  return async (isStopping) => {
    while (!isStopping()) {
      const mails = await store.leaseMails({ owner, leaseMs: LEASE_MS, limit: CONCURRENT_MAILS }, clock())
      if (mails.length === 0) return
      await allEnded(mails.map(async (mail) => settle(mail.id, await send(mail))))
    }
  }
}

/** A mail that fails leaves no other one alone: what is being sent when the run ends would be noted by nobody, and sent again. */
async function allEnded(sending: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(sending)).filter(({ status }) => status === 'rejected')
  const reasons = failed.map((outcome) => (outcome as PromiseRejectedResult).reason as unknown)
  if (reasons.length > 1) throw new AggregateError(reasons)
  if (reasons.length > 0) throw reasons[0]
}
