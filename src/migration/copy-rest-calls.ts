// Copies the ledger of REST calls from the source to the target, day by day, and verifies the copy.
import type { MigratableStore } from '../store/cutover/contract.ts'
import { restCallDayPages } from '../store/paging/paging.ts'
import type { RestCalls } from '../store/rest-call-contract.ts'
import { createCopyBatch, MoveError, type Target } from './row-copies.ts'

/** Copies all days. Days that the source does not have are removed from the target. */
export async function copyRestCalls(source: MigratableStore, target: Target): Promise<void> {
  const days = new Set<string>()
  for (const store of [source, target.store]) {
    for await (const page of restCallDayPages(store)) for (const day of page) days.add(day)
  }
  await copyRestCallsOf([...days], source, target)
}

/** Copies one day after the other: a day has about as many rows as one transaction takes, or a few times that. */
export async function copyRestCallsOf(days: readonly string[], source: MigratableStore, target: Target): Promise<void> {
  for (const day of days) {
    const wanted = await source.restCallsOf([day])
    if (isSame(await target.store.restCallsOf([day]), wanted)) continue
    const batch = createCopyBatch(target)
    await batch.put({ type: 'dropRestCalls', day })
    for (const calls of wanted) await batch.put({ type: 'putRestCalls', calls })
    await batch.flush()
    if (!isSame(await target.store.restCallsOf([day]), wanted)) {
      throw new MoveError(
        'the REST calls of the source and the target are not the same: is something else writing to the target?',
      )
    }
  }
}

function isSame(some: readonly RestCalls[], others: readonly RestCalls[]): boolean {
  return inWords(some) === inWords(others)
}

function inWords(calls: readonly RestCalls[]): string {
  return JSON.stringify(calls.map(({ day, route, client, count, lastSeen }) => [day, route, client, count, lastSeen]))
}
