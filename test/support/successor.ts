// Makes a successor, to which another store may move, of a store that is always open.
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import type { Successor } from '../../src/store/cutover/cutover-store.ts'

export function toSuccessor(store: MigratableStore): Successor {
  return { open: () => store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
