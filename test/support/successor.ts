// A store that another one may move to, open all the time.
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import type { Successor } from '../../src/store/cutover/cutover-store.ts'

export function toSuccessor(store: MigratableStore): Successor {
  return { open: () => store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
