// Collects the changes of an import and applies them in short transactions that leave room for others.
import { setTimeout as delay } from 'node:timers/promises'
import type { Change, ChangeOutcome, Store } from '../store/contract.ts'
import type { Line } from './format/lines.ts'

/** Others wait for the write lock no longer than one transaction takes; its size follows the time it takes. */
const TARGET_TRANSACTION_MS = 30
/** What a transaction takes for itself alone must not make it ever smaller: some ten round trips on PostgreSQL. */
const MIN_CHANGES = 256
const MAX_CHANGES = 4_096
const MAX_TEXT_LENGTH = 2_097_152
/** A user that is removed takes everything along: as many changes as that counts for. */
const CHANGES_PER_REMOVED_USER = 64
/** Long enough for somebody who asks for the lock every millisecond to get it. */
export const PAUSE_MS = 3

export interface ChangeBatch {
  /** `line` is where the change comes from, if it matters. A promise when this change made it enough for a transaction. */
  readonly add: (change: Change, line: Line | null) => Promise<void> | null
  /** Applies what is left. */
  readonly flush: () => Promise<void>
}

/** What was applied, and each one's line. */
export type OnApplied = (outcomes: readonly ChangeOutcome[], lines: readonly (Line | null)[]) => Promise<void>

/** `now` in milliseconds from any moment on. */
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
    // What was read meanwhile is most of the pause.
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
