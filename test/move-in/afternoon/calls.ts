// Counts the calls that the gateways answered, in front of the gateways and from the ledger.
import { runHere } from '../../support/command-line.ts'
import { jsonLines } from '../../support/json-lines.ts'
import type { Answered } from '../../support/switch-front.ts'
import { READER } from './people.ts'

/** The number of calls by route and client. */
export type Calls = Readonly<Record<string, number>>

export interface CallCounter {
  readonly add: (answered: Answered) => void
  readonly calls: () => Calls
}

/** Counts as a ledger must count: calls that the old server answers are not in it. */
export function countCalls(oldUrl: string): CallCounter {
  const calls: Record<string, number> = {}
  return {
    add({ url, method, path, headers, status }) {
      if (url === oldUrl) return
      const isReader = headers['graphql-client-name'] === READER.name
      const client = status === 401 ? '(refused)' : isReader ? READER.name : '(unnamed)'
      const key = `${method} ${path} ${client}`
      calls[key] = (calls[key] ?? 0) + 1
    },
    calls: () => sorted(calls),
  }
}

/** Adds up the days, because a run over midnight has two. */
export async function callsInLedger(database: string): Promise<Calls> {
  const { stdout } = await runHere(['ledger', '--database', database, '--json'])
  const calls: Record<string, number> = {}
  for (const { route, client, count } of jsonLines(stdout)) {
    const key = `${route} ${client}`
    calls[key] = (calls[key] ?? 0) + count
  }
  return sorted(calls)
}

function sorted(calls: Readonly<Record<string, number>>): Calls {
  return Object.fromEntries(Object.entries(calls).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
