// Keeps the chosen operation of each GraphiQL tab. GraphiQL stores it with the tab, but chooses the first one again.
import { useEditorContext } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { operationToSelect } from '../operations.ts'

export function KeepOperation(): null {
  const { queryEditor, tabs, activeTabIndex, setOperationName } = useEditorContext({ nonNull: true })
  const tab = tabs[activeTabIndex]
  /** The id of the tab whose operation was selected last. */
  const selected = useRef<string | null>(null)
  useEffect(() => {
    // Once per visit of a tab: afterwards the person chooses.
    if (!queryEditor || tab === undefined || tab.id === selected.current) return
    selected.current = tab.id
    const name = operationToSelect(queryEditor.getValue(), tab.operationName)
    if (name !== null) setOperationName(name)
  }, [queryEditor, tab, setOperationName])
  return null
}
