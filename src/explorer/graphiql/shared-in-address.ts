// A link to a query opens it in a tab of its own. The address names it only while the editors hold it: what is written afterwards
// is there after a reload.
import { useEditorContext } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { useExplorer } from '../frame/use-explorer.ts'
import { isSameQuery, readShared, type SharedQuery } from './shared-query.ts'

export function SharedInAddress(): null {
  const { navigation } = useExplorer()
  const {
    queryEditor,
    variableEditor,
    tabs,
    activeTabIndex,
    addTab,
    changeTab,
    updateActiveTabValues,
    setOperationName,
  } = useEditorContext({ nonNull: true })
  /** Whose tab is being made, or is coming to the front. */
  const opening = useRef<SharedQuery | null>(null)
  const open = useRef(() => {})
  const shownTab = tabs[activeTabIndex]?.id

  useEffect(() => {
    open.current = () => {
      const shared = readShared(location.hash)
      if (!shared || !queryEditor || !variableEditor) return
      const written = { query: queryEditor.getValue(), variables: variableEditor.getValue() }
      if (isSameQuery(written, shared)) {
        if (shared.operationName !== null) setOperationName(shared.operationName)
        return
      }
      opening.current = shared
      // GraphiQL looks at the editors a moment after a change, and by then they hold another tab.
      updateActiveTabValues(written)
      const index = tabs.findIndex((tab, index) => index !== activeTabIndex && isSameQuery(tab, shared))
      if (index === -1) addTab()
      else changeTab(index)
    }
  }, [queryEditor, variableEditor, tabs, activeTabIndex, addTab, changeTab, updateActiveTabValues, setOperationName])

  useEffect(() => {
    const shared = opening.current
    if (!shared || shownTab === undefined || !queryEditor || !variableEditor) return
    queryEditor.setValue(shared.query)
    variableEditor.setValue(shared.variables)
    opening.current = null
    updateActiveTabValues({ ...shared })
    // GraphiQL keeps the choice as long as the document has an operation of this name.
    if (shared.operationName !== null) setOperationName(shared.operationName)
  }, [shownTab, queryEditor, variableEditor, updateActiveTabValues, setOperationName])

  useEffect(() => {
    if (!queryEditor || !variableEditor) return
    const editors = [queryEditor, variableEditor]
    function leave(): void {
      const shared = opening.current === null ? readShared(location.hash) : null
      const [query = '', variables = ''] = editors.map((editor) => editor.getValue())
      if (shared && !isSameQuery({ query, variables }, shared)) {
        navigation.replace(navigation.address().replace(/#.*$/s, ''))
      }
    }
    const follow = (): void => open.current()
    // It may have changed while the editors were loaded.
    follow()
    addEventListener('hashchange', follow)
    for (const editor of editors) editor.on('change', leave)
    return () => {
      removeEventListener('hashchange', follow)
      for (const editor of editors) editor.off('change', leave)
    }
  }, [queryEditor, variableEditor, navigation])
  return null
}
