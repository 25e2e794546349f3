// In place of the commits of a database that is only read.
import { StoreReadOnlyError } from '../../../contract.ts'
import type { GroupCommit } from '../group-commit.ts'

/** Every write rejects with `StoreReadOnlyError`, and is not run. */
export function refuseWrites(): GroupCommit {
  const refuse = () => Promise.reject(new StoreReadOnlyError('the database was opened for reads only'))
  return { write: refuse, add: refuse, addUnsynced: refuse, onWrite() {}, settled: () => Promise.resolve() }
}
