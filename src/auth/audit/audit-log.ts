// The audit log of one process: events in, entries of the database out, in batches off the path of requests.
import { createHmac } from 'node:crypto'
import { redact } from '../../redact.ts'
import type { AuditVerbs, NewAuditEntry } from '../../store/audit-contract.ts'
import { coarseNetworkOf } from '../coarse-network.ts'
import type { Audit, AuditEvent } from './audit-event.ts'

/** What a process that is killed loses at most. */
const FLUSH_EVERY_MS = 1_000
/** Entries that wait at most; further ones are only counted. */
const MAX_QUEUED = 10_000
/** What one transaction writes: others wait for it. */
const ENTRIES_PER_WRITE = 500
const MAX_DETAIL_LENGTH = 200
const PURGE_EVERY_MS = 3_600_000
const PURGED_PER_WRITE = 1_000
/** Of 256: enough that no two of a billion emails share one by accident. */
const HASH_BITS = 128

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

export interface AuditLog extends Audit, AsyncDisposable {
  /** Resolves when all that was recorded is durable, or could not be written now. */
  readonly flush: () => Promise<void>
}

export type AuditStore = Pick<AuditVerbs, 'auditSalt' | 'addAuditEntries' | 'removeAuditEntries'>

/** How an email is named in the log of the database with this salt: 32 hexadecimal digits behind `hmac-sha256:`. */
export function hashedEmail(email: string, salt: string): string {
  return `hmac-sha256:${createHmac('sha256', salt)
    .update(email)
    .digest('hex')
    .slice(0, HASH_BITS / 4)}`
}

/** Disposing it writes what still waits. What is the same and waits together becomes one entry with a count. */
export async function openAuditLog(store: AuditStore, options: AuditLogOptions): Promise<AuditLog> {
  const { retentionMs, areEmailsClear, clock, onEntry, onFailure } = options
  let salt = await store.auditSalt()
  let queue = new Map<string, NewAuditEntry>()
  let droppedCount = 0
  let purgedAt = Number.NEGATIVE_INFINITY
  let writing: Promise<void> = Promise.resolve()
  let isFailing = false

  function toEntry({ kind, result, email, address = '', detail = '' }: AuditEvent): NewAuditEntry {
    return {
      at: clock(),
      kind,
      result,
      who: email === undefined ? '' : areEmailsClear ? email : hashedEmail(email, salt),
      network: coarseNetworkOf(address),
      detail: redact(detail.slice(0, MAX_DETAIL_LENGTH)),
      count: 1,
    }
  }

  function enqueue(entry: NewAuditEntry): void {
    const key = JSON.stringify([entry.kind, entry.result, entry.who, entry.network, entry.detail])
    const waiting = queue.get(key)
    if (waiting) queue.set(key, { ...waiting, count: waiting.count + entry.count })
    else if (queue.size < MAX_QUEUED) queue.set(key, entry)
    else droppedCount += entry.count
  }

  function takeQueue(): readonly NewAuditEntry[] {
    const entries = [...queue.values()]
    if (droppedCount > 0) {
      entries.push({ ...toEntry({ kind: 'dropped', result: 'failed' }), count: droppedCount })
    }
    queue = new Map()
    droppedCount = 0
    return entries
  }

  async function write(): Promise<void> {
    const entries = takeQueue()
    for (let start = 0; start < entries.length; start += ENTRIES_PER_WRITE) {
      const written = entries.slice(start, start + ENTRIES_PER_WRITE)
      try {
        if (retentionMs > 0) await store.addAuditEntries(written)
      } catch (error) {
        for (const entry of entries.slice(start)) enqueue(entry)
        throw error
      }
      for (const entry of written) onEntry(entry)
    }
    // Another one when the database has moved meanwhile.
    if (entries.length > 0) salt = await store.auditSalt()
  }

  async function purge(): Promise<void> {
    if (retentionMs === 0 || retentionMs === Number.POSITIVE_INFINITY) return
    if (clock() - purgedAt < PURGE_EVERY_MS) return
    purgedAt = clock()
    while ((await store.removeAuditEntries(clock() - retentionMs, PURGED_PER_WRITE)) === PURGED_PER_WRITE) {}
  }

  function flush(): Promise<void> {
    writing = writing.then(async () => {
      try {
        await write()
        await purge()
        isFailing = false
      } catch (error) {
        if (!isFailing) onFailure(error)
        isFailing = true
      }
    })
    return writing
  }

  const timer = setInterval(flush, FLUSH_EVERY_MS)
  timer.unref()

  return {
    record: (event) => enqueue(toEntry(event)),
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}
