// Drops what dead imports have staged, recognized by its age.
import { setTimeout as delay } from 'node:timers/promises'
import type { Awaitable } from '../store/awaitable.ts'
import type { Store } from '../store/contract.ts'
import { PAUSE_MS } from './change-batch.ts'

/** A stage that nobody has touched for this long belongs to a dead import. */
const STALE_AFTER_MS = 600_000
/** How often an import touches the stages that it will continue later. */
export const TOUCH_EVERY_MS = 60_000

/** Removes one batch of stale stages. True when none is left. */
export function dropSomeStale(store: Pick<Store, 'dropStaleStages'>, now: number): Awaitable<boolean> {
  return store.dropStaleStages(now - STALE_AFTER_MS)
}

export async function dropAllStale(store: Pick<Store, 'dropStaleStages'>, now: number): Promise<void> {
  while (!(await dropSomeStale(store, now))) await delay(PAUSE_MS)
}
