// The group commit of a read-only database: it refuses every write.
import { StoreReadOnlyError } from '../../../contract.ts'
import type { GroupCommit } from '../group-commit.ts'

/** Every write rejects with `StoreReadOnlyError` and does not run. */
export function refuseWrites(): GroupCommit {
  const refuse = () => Promise.reject(new StoreReadOnlyError('the database was opened for reads only'))
  return { write: refuse, add: refuse, addUnsynced: refuse, onWrite() {}, settled: () => Promise.resolve() }
}
