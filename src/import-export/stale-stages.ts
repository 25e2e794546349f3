// What imports that died have staged, and nobody will finish: by its age.
import { setTimeout as delay } from 'node:timers/promises'
import type { Awaitable } from '../store/awaitable.ts'
import type { Store } from '../store/contract.ts'
import { PAUSE_MS } from './change-batch.ts'

/** What nobody has touched for this long was left by an import that died. */
const STALE_AFTER_MS = 600_000
/** How often an import touches what it has staged and goes on with later. */
export const TOUCH_EVERY_MS = 60_000

/** Removes a part of it; true when nothing is left. */
export function dropSomeStale(store: Pick<Store, 'dropStaleStages'>, now: number): Awaitable<boolean> {
  return store.dropStaleStages(now - STALE_AFTER_MS)
}

export async function dropAllStale(store: Pick<Store, 'dropStaleStages'>, now: number): Promise<void> {
  while (!(await dropSomeStale(store, now))) await delay(PAUSE_MS)
}
