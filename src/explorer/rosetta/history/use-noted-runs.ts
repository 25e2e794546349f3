// Adds each compared run to the history once.
import { useEffect, useRef } from 'react'
import { withoutTokens } from '../../answer/reading.ts'
import { useExplorer } from '../../frame/use-explorer.ts'
import type { Verdict } from '../comparison.ts'
import { routeName } from '../rosetta-state.ts'
import type { Runs } from '../use-runs.ts'

/** `address` restores the current state of the page, which may change before the run has its verdict. */
export function useNotedRuns({ verdict, asked, answers }: Runs, address: string, email: string): void {
  const { history } = useExplorer()
  const noted = useRef<Verdict | null>(null)
  const begun = useRef({ asked, address })
  useEffect(() => {
    if (asked !== begun.current.asked) begun.current = { asked, address }
    const { rest, graphql } = answers
    if (verdict === null || verdict === noted.current || !asked || !rest || !graphql) return
    noted.current = verdict
    history.add({
      at: new Date().toISOString(),
      email,
      address: begun.current.address,
      route: routeName(asked.route),
      value: withoutTokens(asked.value),
      statuses: [rest.status, graphql.status],
      durationsMs: [rest.durationMs, graphql.durationMs],
      verdict,
    })
  })
}
