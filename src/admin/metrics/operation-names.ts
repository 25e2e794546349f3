// Limits the names of GraphQL operations that become labels: clients choose them, so their number is bounded in total
// and per user.
import type { RequestRecord } from '../../http/request-record.ts'

const MAX_NAMES = 100
/** A user who makes up names leaves room for the names in use. */
const MAX_NAMES_OF_USER = 20
const MAX_LENGTH = 64
const OTHER = '_OTHER'
/** Number of users whose names are counted. Further users add no names. */
const MAX_USERS = 10_000

export interface OperationNames {
  /** Returns the label of this request: empty for an operation without a name, `_OTHER` beyond the bounds. */
  readonly nameOf: (record: Pick<RequestRecord, 'operationName' | 'viewer'>) => string
}

export function createOperationNames(): OperationNames {
  const names = new Set<string>([''])
  const addedBy = new Map<string, number>()

  function mayAdd(name: string, email: string): boolean {
    if (names.size > MAX_NAMES || name.length > MAX_LENGTH) return false
    const added = addedBy.get(email)
    if (added === undefined ? addedBy.size >= MAX_USERS : added >= MAX_NAMES_OF_USER) return false
    addedBy.set(email, (added ?? 0) + 1)
    return true
  }

  return {
    nameOf({ operationName, viewer }) {
      const name = operationName ?? ''
      if (names.has(name)) return name
      if (viewer === null || !mayAdd(name, viewer.email)) return OTHER
      names.add(name)
      return name
    },
  }
}
