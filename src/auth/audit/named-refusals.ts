// Bounds the audit entries that strangers can cause: beyond a number per minute, further ones lose the fields that tell
// them apart, and are counted together. Most of them are refusals.
import type { NewAuditEntry } from '../../store/audit-contract.ts'

const WINDOW_MS = 60_000
/**
 * Refusals per minute that keep their email, per network; and that keep email and network, for all networks together.
 */
const MAX_OF_NETWORK = 100
const MAX_OF_ALL = 1_000

/**
 * Whether strangers can cause any number of such entries. Entries about mails need no bound, because the number of mails
 * has limits.
 */
export function isBounded({ kind, result, detail }: NewAuditEntry): boolean {
  if (result === 'refused') return true
  // These fail while the database is away, and no rate limit is for logouts.
  if (kind === 'login' || kind === 'refresh' || kind === 'logout') return result === 'failed'
  return kind === 'codeRequest' && detail === 'joined'
}

/** Returns the entry of a refusal as it should be stored, possibly without its email, and without its network. */
export type NameRefusal = (entry: NewAuditEntry) => NewAuditEntry

export function createRefusalNames(): NameRefusal {
  let endsAt = 0
  let namedCount = 0
  const named = new Map<string, number>()

  function startWindow(now: number): void {
    endsAt = now + WINDOW_MS
    namedCount = 0
    named.clear()
  }

  return (entry) => {
    // The second condition starts a new window if the clock was set back.
    if (entry.at >= endsAt || entry.at < endsAt - WINDOW_MS) startWindow(entry.at)
    if (namedCount >= MAX_OF_ALL) return { ...entry, who: '', network: '' }
    const ofNetwork = named.get(entry.network) ?? 0
    if (ofNetwork >= MAX_OF_NETWORK) return { ...entry, who: '' }
    namedCount += 1
    named.set(entry.network, ofNetwork + 1)
    return entry
  }
}
