// Adds each compared run to the history once.
import { useEffect, useRef } from 'react'
import { withoutTokens } from '../../answer/reading.ts'
import { useExplorer } from '../../frame/use-explorer.ts'
import type { Verdict } from '../comparison.ts'
import { routeName } from '../rosetta-state.ts'
import type { Runs } from '../use-runs.ts'

/** `address` restores the current state of the page. */
export function useNotedRuns({ verdict, asked, answers }: Runs, address: string, email: string): void {
  const { history } = useExplorer()
  const noted = useRef<Verdict | null>(null)
  useEffect(() => {
    const { rest, graphql } = answers
    if (verdict === null || verdict === noted.current || !asked || !rest || !graphql) return
    noted.current = verdict
    history.add({
      at: new Date().toISOString(),
      email,
      address,
      route: routeName(asked.route),
      value: withoutTokens(asked.value),
      statuses: [rest.status, graphql.status],
      durationsMs: [rest.durationMs, graphql.durationMs],
      verdict,
    })
  })
}
