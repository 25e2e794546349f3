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
  let queue = new Map<string, NewAuditEntry>()
  let droppedCount = 0
  const writer = randomUUID()
  let sequence = 0
  /** Their fate is not known until they are acknowledged: they are sent again as they are, and what comes meanwhile is not counted in with them. */
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

  /** What waits now; behind it, how many could not wait. */
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

  /** Whether there were any. */
  async function send(): Promise<boolean> {
    const isAny = unacknowledged.length > 0
    for (let [batch] = unacknowledged; batch; [batch] = unacknowledged) {
      if (retentionMs > 0) await store.addAuditEntries(batch)
      unacknowledged.shift()
      for (const entry of batch.entries) onEntry(entry)
    }
    return isAny
  }

  /** What comes meanwhile waits for the next time: equal events are counted together until then. */
  async function write(): Promise<void> {
    const hasSentAgain = await send()
    unacknowledged = takeBatches()
    // Another one when the database has moved meanwhile.
    if ((await send()) || hasSentAgain) salt = await store.auditSalt()
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
