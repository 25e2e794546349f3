// The audit log of one process: events in, entries of the database out, in batches off the path of requests.
import { randomUUID } from 'node:crypto'
import { redact } from '../../redact.ts'
import type { AuditBatch, AuditVerbs, NewAuditEntry } from '../../store/audit-contract.ts'
import { type BackgroundWriter, startBackgroundWriter } from '../../store/background-writer.ts'
import { hashedEmail } from '../../store/hashed-email.ts'
import { coarseNetworkOf } from '../coarse-network.ts'
import type { Audit, AuditEvent } from './audit-event.ts'
import { createRefusalNames } from './named-refusals.ts'

/** Entries that wait at most; further ones are only counted. */
const MAX_QUEUED = 10_000
/** What one transaction writes: others wait for it. */
const ENTRIES_PER_WRITE = 500
const MAX_DETAIL_LENGTH = 200

export interface AuditLogOptions {
  /** Older entries go (infinity: none do, here); 0: none are kept at all. */
  readonly retentionMs: number
  /** Whether emails are kept as they are, rather than as a hash. */
  readonly areEmailsClear: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Called once for each entry, once it is written: for the line in the log. */
  readonly onEntry: (entry: NewAuditEntry) => void
  /** Entries could not be written: said once until they can. They are tried again, and lost when more come than may wait. */
  readonly onFailure: (error: unknown) => void
}

export interface AuditLog extends Audit, BackgroundWriter {}

export type AuditStore = Pick<AuditVerbs, 'auditSalt' | 'addAuditEntries' | 'removeAuditEntries'>

/** Disposing it writes what still waits. What is the same and waits together becomes one entry with a count. */
export async function openAuditLog(store: AuditStore, options: AuditLogOptions): Promise<AuditLog> {
  const { retentionMs, areEmailsClear, clock, onEntry, onFailure } = options
  let salt = await store.auditSalt()
  const nameRefusal = createRefusalNames()
  const queue = new Map<string, NewAuditEntry>()
  let droppedCount = 0
  const writer = randomUUID()
  let sequence = 0
  /** Its fate is not known until it was acknowledged: it is sent again as it is, and what comes meanwhile is not counted in with it. */
  let unacknowledged: AuditBatch | null = null

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
    const isNewRefusal = entry.result === 'refused' && !queue.has(keyOf(entry))
    enqueue(isNewRefusal ? nameRefusal(entry) : entry)
  }

  function enqueue(entry: NewAuditEntry): void {
    const key = keyOf(entry)
    const waiting = queue.get(key)
    if (waiting) queue.set(key, { ...waiting, count: waiting.count + entry.count })
    else if (queue.size < MAX_QUEUED) queue.set(key, entry)
    else droppedCount += entry.count
  }

  /** Those that have waited longest; behind the last of them, how many could not wait. */
  function takeBatch(): AuditBatch {
    const entries: NewAuditEntry[] = []
    for (const [key, entry] of queue) {
      if (entries.length === ENTRIES_PER_WRITE) break
      entries.push(entry)
      queue.delete(key)
    }
    if (entries.length < ENTRIES_PER_WRITE && droppedCount > 0) {
      entries.push({ ...toEntry({ kind: 'dropped', result: 'failed' }), count: droppedCount })
      droppedCount = 0
    }
    sequence += 1
    return { writer, sequence, entries }
  }

  async function write(): Promise<void> {
    let hasWritten = false
    while (unacknowledged !== null || queue.size > 0 || droppedCount > 0) {
      unacknowledged ??= takeBatch()
      if (retentionMs > 0) await store.addAuditEntries(unacknowledged)
      const { entries } = unacknowledged
      unacknowledged = null
      hasWritten = true
      for (const entry of entries) onEntry(entry)
    }
    // Another one when the database has moved meanwhile.
    if (hasWritten) salt = await store.auditSalt()
  }

  const areRemoved = retentionMs > 0 && retentionMs < Number.POSITIVE_INFINITY
  const background = startBackgroundWriter({
    write,
    removeOld: areRemoved ? (limit) => store.removeAuditEntries(clock() - retentionMs, limit) : null,
    clock,
    onFailure,
  })
  return { ...background, record }
}
