// The calls that gateways answered, counted in front of them, and as the ledger has them.
import { runHere } from '../../support/command-line.ts'
import type { Answered } from '../../support/switch-front.ts'
import { READER } from './people.ts'

/** How often, by route and client. */
export type Calls = Readonly<Record<string, number>>

export interface CallCounter {
  readonly add: (answered: Answered) => void
  readonly calls: () => Calls
}

/** As a ledger must have it; what the old server answers is none of its calls. */
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

/** A run over midnight has two days. */
export async function callsInLedger(database: string): Promise<Calls> {
  const { stdout } = await runHere(['ledger', '--database', database, '--json'])
  const calls: Record<string, number> = {}
  for (const line of stdout.split('\n').filter((text) => text !== '')) {
    const { route, client, count } = JSON.parse(line)
    const key = `${route} ${client}`
    calls[key] = (calls[key] ?? 0) + count
  }
  return sorted(calls)
}

function sorted(calls: Readonly<Record<string, number>>): Calls {
  return Object.fromEntries(Object.entries(calls).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
