// The audit log of one process: queues events and writes them to the database in batches, off the path of requests.
import { randomUUID } from 'node:crypto'
import { redact } from '../../redact.ts'
import type { AuditBatch, NewAuditEntry } from '../../store/audit-contract.ts'
import { type BackgroundWriter, startBackgroundWriter } from '../../store/background-writer.ts'
import type { Store } from '../../store/contract.ts'
import { hashedEmail } from '../../store/hashed-email.ts'
import { coarseNetworkOf } from '../coarse-network.ts'
import type { Audit, AuditEvent } from './audit-event.ts'
import { createRefusalNames, isBounded } from './named-refusals.ts'

/** Maximum number of queued entries. Further ones are only counted. */
const MAX_QUEUED = 10_000
/** Entries per transaction. It is bounded because other writers wait for the transaction. */
const ENTRIES_PER_WRITE = 500
const MAX_DETAIL_LENGTH = 200

export interface AuditLogOptions {
  /** Entries older than this are removed. With infinity this process removes none; with 0 no entries are stored. */
  readonly retentionMs: number
  /** Whether emails are stored in clear instead of as a hash. */
  readonly areEmailsClear: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Called once for each entry after it is written, to write its log line. */
  readonly onEntry: (entry: NewAuditEntry) => void
  /** Called once per outage when entries cannot be written. They are retried; entries beyond `MAX_QUEUED` are lost. */
  readonly onFailure: (error: unknown) => void
}

export interface AuditLog extends Audit, BackgroundWriter {}

export type AuditStore = Pick<Store, 'auditSalt' | 'addAuditEntries' | 'removeAuditEntries' | 'earlierTime'>

/** Disposing it writes the queued entries. Equal entries in the queue become one entry with a count. */
export async function openAuditLog(store: AuditStore, options: AuditLogOptions): Promise<AuditLog> {
  const { retentionMs, areEmailsClear, clock, onEntry, onFailure } = options
  let salt = await store.auditSalt()
  const nameRefusal = createRefusalNames()
  let queue = new Map<string, NewAuditEntry>()
  let droppedCount = 0
  const writer = randomUUID()
  let sequence = 0
  /**
   * Batches whose outcome is unknown until the store acknowledges them. They are sent again unchanged, so new events
   * are not merged into them.
   */
  let unacknowledged: AuditBatch[] = []

  function toEntry({ kind, result, email, isGone = false, address = '', detail = '' }: AuditEvent): NewAuditEntry {
    return {
      at: clock(),
      kind,
      result,
      who: email === undefined ? '' : areEmailsClear && !isGone ? email : hashedEmail(email, salt),
      network: coarseNetworkOf(address),
      detail: redact(detail.slice(0, MAX_DETAIL_LENGTH)),
      count: 1,
    }
  }

  function keyOf({ kind, result, who, network, detail }: NewAuditEntry): string {
    return JSON.stringify([kind, result, who, network, detail])
  }

  function record(event: AuditEvent): void {
    const entry = toEntry(event)
    const isNew = isBounded(entry) && !queue.has(keyOf(entry))
    enqueue(isNew ? nameRefusal(entry) : entry)
  }

  function enqueue(entry: NewAuditEntry): void {
    const key = keyOf(entry)
    const waiting = queue.get(key)
    if (waiting) queue.set(key, { ...waiting, count: waiting.count + entry.count })
    else if (queue.size < MAX_QUEUED) queue.set(key, entry)
    else droppedCount += entry.count
  }

  /** Takes the queued entries, plus an entry with the number of dropped ones. */
  function takeBatches(): AuditBatch[] {
    const entries = [...queue.values()]
    if (droppedCount > 0) {
      entries.push({ ...toEntry({ kind: 'dropped', result: 'failed' }), count: droppedCount })
    }
    queue = new Map()
    droppedCount = 0
    const batches: AuditBatch[] = []
    for (let start = 0; start < entries.length; start += ENTRIES_PER_WRITE) {
      sequence += 1
      batches.push({ writer, sequence, entries: entries.slice(start, start + ENTRIES_PER_WRITE) })
    }
    return batches
  }

  /** Writes the unacknowledged batches. Returns whether there were any. */
  async function send(): Promise<boolean> {
    const isAny = unacknowledged.length > 0
    for (let [batch] = unacknowledged; batch; [batch] = unacknowledged) {
      if (retentionMs > 0) await store.addAuditEntries(batch)
      unacknowledged.shift()
      for (const entry of batch.entries) onEntry(entry)
    }
    return isAny
  }

  /** Events that arrive during a write stay queued until the next one, so that equal events are counted together. */
  async function write(): Promise<void> {
    const hasSentAgain = await send()
    unacknowledged = takeBatches()
    // The salt is another one if the gateway has moved to another database meanwhile.
    if ((await send()) || hasSentAgain) salt = await store.auditSalt()
  }

  const areRemoved = retentionMs > 0 && retentionMs < Number.POSITIVE_INFINITY
  const background = startBackgroundWriter({
    write,
    removeOld: areRemoved
      ? async (limit) => store.removeAuditEntries((await store.earlierTime(clock())) - retentionMs, limit)
      : null,
    clock,
    onFailure,
  })
  return { ...background, record }
}
