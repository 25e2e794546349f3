// Gives each answer to the tab whose query it answers. GraphiQL shows it in the tab that is open when it arrives.
import { useEditorContext, useExecutionContext } from '@graphiql/react'
import { useEffect } from 'react'

export interface TabRuns {
  /**
   * Call it when a query is sent. The returned function takes the answer. It returns whether GraphiQL may show it: if the
   * tab was left meanwhile, the tab gets the answer from here, unless it has run again.
   */
  readonly begin: () => (answer: object) => boolean
  /** Call it with the tab that is shown, and with what shows an answer there. Returns whether another tab was shown. */
  readonly show: (tab: string, write: (answer: object) => void) => boolean
}

export function createTabRuns(): TabRuns {
  /** The number of the last run of each tab. */
  const last = new Map<string, number>()
  /** Answers for tabs that are not shown. */
  const late = new Map<string, object>()
  let [count, visit, shown] = [0, 0, '']
  let write = (_answer: object): void => {}
  return {
    begin() {
      const [tab, begunIn] = [shown, visit]
      count += 1
      const number = count
      last.set(tab, number)
      late.delete(tab)
      return (answer) => {
        if (visit === begunIn) return true
        if (last.get(tab) !== number) return false
        if (tab === shown) write(answer)
        else late.set(tab, answer)
        return false
      }
    },
    show(tab, writeHere) {
      const isOther = tab !== shown
      if (isOther) visit += 1
      shown = tab
      write = writeHere
      const answer = late.get(tab)
      late.delete(tab)
      if (answer !== undefined) write(answer)
      return isOther
    },
  }
}

interface ShowTabRunsProps {
  readonly runs: TabRuns
}

export function ShowTabRuns({ runs }: ShowTabRunsProps): null {
  const { responseEditor, tabs, activeTabIndex, updateActiveTabValues } = useEditorContext({ nonNull: true })
  const { stop } = useExecutionContext({ nonNull: true })
  const tab = tabs[activeTabIndex]?.id
  useEffect(() => {
    if (!responseEditor || tab === undefined) return
    const isOther = runs.show(tab, (answer) => {
      const response = JSON.stringify(answer, null, 2)
      responseEditor.setValue(response)
      updateActiveTabValues({ response })
    })
    // What the tab before runs is not running here.
    if (isOther) stop()
  }, [runs, responseEditor, tab, updateActiveTabValues, stop])
  return null
}
