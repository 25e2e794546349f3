// The ledger of REST calls in the target made what it is in the source, day by day, and read back.
import type { MigratableStore } from '../store/cutover/contract.ts'
import type { RestCalls, RestCallVerbs } from '../store/rest-call-contract.ts'
import { createCopyBatch, MoveError, type Target } from './row-copies.ts'

const DAYS_PER_READ = 100

/** All days; those that the source does not have go. */
export async function copyRestCalls(source: MigratableStore, target: Target): Promise<void> {
  const days = new Set<string>()
  for (const store of [source, target.store]) for await (const day of callDays(store)) days.add(day)
  await copyRestCallsOf([...days], source, target)
}

/** Oldest first. */
export async function* callDays(store: RestCallVerbs): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const page = await store.restCallDays(after, DAYS_PER_READ)
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    after = last
  }
}

/** One day after the other: a day has as many rows as one transaction takes, or a few times that. */
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
