// Names of GraphQL operations as labels: clients choose them, so their number, and how many one user adds, is bounded.
import type { RequestRecord } from '../../http/request-record.ts'

const MAX_NAMES = 100
/** So that one user who makes up names leaves room for those that are in use. */
const MAX_NAMES_OF_USER = 20
const MAX_LENGTH = 64
const OTHER = '_OTHER'
/** Users whose names are counted; of any more none is added. */
const MAX_USERS = 10_000

export interface OperationNames {
  /** The name for this request: empty for an operation without one, `_OTHER` past the bounds. */
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
