// Collects the changes of an import and applies them in short transactions that leave room for others.
import { setTimeout as delay } from 'node:timers/promises'
import type { Change, ChangeOutcome, Store } from '../store/contract.ts'
import type { Line } from './format/lines.ts'

/** Others wait for the write lock no longer than one transaction takes, so the batch size adapts to this duration. */
const TARGET_TRANSACTION_MS = 30
/**
 * Minimum batch size. The fixed cost of a transaction, some ten round trips on PostgreSQL, must not shrink the batch
 * further and further.
 */
const MIN_CHANGES = 256
const MAX_CHANGES = 4_096
const MAX_TEXT_LENGTH = 2_097_152
/** Weight of a removed user, counted in changes: all data of the user is deleted with it. */
const CHANGES_PER_REMOVED_USER = 64
/** Pause between transactions, long enough for a process that tries every millisecond to get the lock. */
export const PAUSE_MS = 3

export interface ChangeBatch {
  /**
   * Adds a change. `line` is its line in the input, or null when it does not matter. Returns a promise when the batch
   * is full and is being applied.
   */
  readonly add: (change: Change, line: Line | null) => Promise<void> | null
  /** Applies the remaining changes. */
  readonly flush: () => Promise<void>
}

/** Called with the outcomes of applied changes and with their lines. */
export type OnApplied = (outcomes: readonly ChangeOutcome[], lines: readonly (Line | null)[]) => Promise<void>

/** `now` is a monotonic clock in milliseconds with any origin. */
export function createChangeBatch(
  store: Pick<Store, 'applyChanges'>,
  onApplied: OnApplied,
  now: () => number = () => performance.now(),
): ChangeBatch {
  let changes: Change[] = []
  let lines: (Line | null)[] = []
  let textLength = 0
  let weight = 0
  let maxChanges = MIN_CHANGES
  let unlockedAt = Number.NEGATIVE_INFINITY

  async function flush(): Promise<void> {
    if (changes.length === 0) return
    const [applying, from] = [changes, lines]
    changes = []
    lines = []
    textLength = 0
    const applied = weight
    weight = 0
    // Reading the input since the last transaction counts towards the pause.
    const rest = unlockedAt + PAUSE_MS - now()
    if (rest > 0) await delay(rest)
    const start = now()
    const outcomes = await store.applyChanges(applying)
    unlockedAt = now()
    const took = unlockedAt - start
    const fitting = Math.round(applied * Math.min(2, Math.max(0.5, TARGET_TRANSACTION_MS / took)))
    maxChanges = Math.min(MAX_CHANGES, Math.max(MIN_CHANGES, fitting))
    await onApplied(outcomes, from)
  }

  return {
    flush,
    add(change, line) {
      changes.push(change)
      lines.push(line)
      textLength += textLengthOf(change)
      weight += change.type === 'removeUser' ? CHANGES_PER_REMOVED_USER : 1
      return weight >= maxChanges || textLength >= MAX_TEXT_LENGTH ? flush() : null
    },
  }
}

function textLengthOf(change: Change): number {
  if (change.type === 'putDocument') return change.text.length
  return change.type === 'stageElements' ? change.texts.reduce((sum, text) => sum + text.length, 0) : 0
}
