// Starts a gateway whose reads can be interrupted, so that something else happens first.
import type { Awaitable, Snapshot, SnapshotOptions, Store, WorkspaceReads } from '../../src/store/contract.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'

type Verb = 'documentsWithin' | 'documentCounts' | 'elementRunsOf' | 'latestExports'

export interface Interrupted {
  readonly gateway: TestGateway
  /**
   * Runs something before the next read of this kind, or before one that comes `later` reads after it. It runs once
   * the reads that began earlier are answered: these must not see what it changes. Reads of a snapshot do not count.
   */
  readonly beforeNext: (verb: Verb, run: () => unknown, later?: number) => void
  /** How many snapshots were opened. */
  readonly snapshots: () => number
}

export async function interruptedGateway(
  options: TestGatewayOptions & {
    readonly openSnapshot?: (store: Store, options?: SnapshotOptions) => Promise<Snapshot>
  } = {},
): Promise<Interrupted> {
  const { openSnapshot = async (store, given) => store.openSnapshot(given) } = options
  const waiting = new Map<keyof WorkspaceReads, { readonly run: () => unknown; later: number }>()
  const running = new Set<Promise<unknown>>()
  let snapshots = 0

  async function pass(verb: Verb, earlier: readonly Promise<unknown>[]): Promise<void> {
    const next = waiting.get(verb)
    if (!next) return
    if (next.later > 0) {
      next.later -= 1
      return
    }
    waiting.delete(verb)
    await Promise.allSettled(earlier)
    await next.run()
  }

  async function read<T>(verb: Verb, reading: () => Awaitable<T>): Promise<T> {
    const answer = pass(verb, [...running]).then(reading)
    running.add(answer)
    return answer.finally(() => running.delete(answer))
  }

  function wrapStore(store: Store): Store {
    return {
      ...store,
      documentsWithin: (pages) => read('documentsWithin', () => store.documentsWithin(pages)),
      documentCounts: (lists) => read('documentCounts', () => store.documentCounts(lists)),
      latestExports: (questions) => read('latestExports', () => store.latestExports(questions)),
      elementRunsOf: (questions) => read('elementRunsOf', () => store.elementRunsOf(questions)),
      openSnapshot(given) {
        snapshots += 1
        return openSnapshot(store, given)
      },
    }
  }

  const gateway = await startGateway({ ...options, wrapStore })
  return {
    gateway,
    beforeNext: (verb, run, later = 0) => void waiting.set(verb, { run, later }),
    snapshots: () => snapshots,
  }
}
