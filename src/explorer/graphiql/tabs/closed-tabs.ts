// Closes GraphiQL's tabs: another tab than the shown one leaves that where it is, and a closed tab can be opened again.
import { useEditorContext } from '@graphiql/react'
import { type RefObject, useEffect, useRef } from 'react'
import { useToast } from '../../design/toast.tsx'

/** Called before a tab is closed. Returns whether GraphiQL shall close it. */
export type BeforeClosing = (index: number) => boolean

interface ClosedTabsProps {
  readonly beforeClosing: RefObject<BeforeClosing | null>
}

export function ClosedTabs({ beforeClosing }: ClosedTabsProps): null {
  const { queryEditor, tabs, activeTabIndex, moveTab, changeTab } = useEditorContext({ nonNull: true })
  const showToast = useToast()
  const before = useRef(tabs)
  const reopen = useRef((_tab: (typeof tabs)[number], _index: number) => {})
  const toasts = useRef<(() => void)[]>([])

  useEffect(() => {
    beforeClosing.current = (index) => {
      if (index === activeTabIndex) return true
      // GraphiQL would show the tab to the left of the shown one.
      moveTab(tabs.toSpliced(index, 1))
      return false
    }
    reopen.current = (tab, index) => {
      moveTab(tabs.toSpliced(index, 0, tab))
      changeTab(Math.min(index, tabs.length))
      queryEditor?.focus()
    }
  }, [beforeClosing, queryEditor, tabs, activeTabIndex, moveTab, changeTab])

  useEffect(() => {
    const index = before.current.findIndex(({ id }) => !tabs.some((tab) => tab.id === id))
    const closed = before.current[index]
    before.current = tabs
    if (!closed || ![closed.query, closed.variables, closed.headers].some((text) => text?.trim())) return
    const action = { label: 'Undo', run: () => reopen.current(closed, index) }
    toasts.current.push(showToast(`Closed the tab ${closed.title}`, 'told', action))
  }, [tabs, showToast])

  // Elsewhere there is no place for the tab, and the next user must not see its name.
  useEffect(
    () => () => {
      for (const hide of toasts.current) hide()
    },
    [],
  )
  return null
}
