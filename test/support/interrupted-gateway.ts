// Starts a gateway whose reads can be interrupted, so that something else happens first.
import type { Snapshot, SnapshotOptions, Store, WorkspaceReads } from '../../src/store/contract.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'

type Verb = 'documentsWithin' | 'documentCounts' | 'elementRunsOf' | 'latestExports'

export interface Interrupted {
  readonly gateway: TestGateway
  /**
   * Runs something before the next read of this kind, or before one that comes `later` reads after it. Reads of a
   * snapshot do not count.
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
  let snapshots = 0

  async function pass(verb: Verb): Promise<void> {
    const next = waiting.get(verb)
    if (!next) return
    if (next.later > 0) {
      next.later -= 1
      return
    }
    waiting.delete(verb)
    await next.run()
  }

  function wrapStore(store: Store): Store {
    return {
      ...store,
      documentsWithin: (pages) => pass('documentsWithin').then(() => store.documentsWithin(pages)),
      documentCounts: (lists) => pass('documentCounts').then(() => store.documentCounts(lists)),
      latestExports: (questions) => pass('latestExports').then(() => store.latestExports(questions)),
      elementRunsOf: (questions) => pass('elementRunsOf').then(() => store.elementRunsOf(questions)),
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
