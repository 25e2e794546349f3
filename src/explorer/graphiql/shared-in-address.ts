// Opens the query of a shared link in its own tab. The address keeps the query only while the editors hold it, so that
// later edits survive a reload.
import { useEditorContext } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { useExplorer } from '../frame/use-explorer.ts'
import { operationToSelect } from './operations.ts'
import { isSameQuery, readShared, type SharedQuery } from './shared-query.ts'

interface Link {
  readonly hash: string
  readonly shared: SharedQuery
}

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
  /** The link whose tab is being created or activated. */
  const opening = useRef<Link | null>(null)
  /** The hash whose query the editors were given. Another one in the address is a link that is opened next. */
  const held = useRef('')
  const open = useRef((_isFirst: boolean) => {})
  const shownTab = tabs[activeTabIndex]?.id

  useEffect(() => {
    open.current = (isFirst) => {
      const { hash } = location
      const shared = readShared(hash)
      if (!shared || !queryEditor || !variableEditor) return
      const written = { query: queryEditor.getValue(), variables: variableEditor.getValue() }
      if (isSameQuery(written, shared)) {
        held.current = hash
        // GraphiQL only guesses the operation of a new tab, so a link that has just opened the pages chooses it. After a
        // reload, the tab has the person's choice.
        const isOpened = isFirst && navigation.opened() !== null
        const name = isOpened ? operationToSelect(shared.query, shared.operationName) : shared.operationName
        if (name !== null) setOperationName(name)
        return
      }
      opening.current = { hash, shared }
      // GraphiQL reads the editors a moment after a change, when they already hold another tab, so save their content
      // now.
      updateActiveTabValues(written)
      const index = tabs.findIndex((tab, index) => index !== activeTabIndex && isSameQuery(tab, shared))
      if (index === -1) addTab()
      else changeTab(index)
    }
  }, [
    navigation,
    queryEditor,
    variableEditor,
    tabs,
    activeTabIndex,
    addTab,
    changeTab,
    updateActiveTabValues,
    setOperationName,
  ])

  useEffect(() => {
    if (!opening.current || shownTab === undefined || !queryEditor || !variableEditor) return
    const { hash, shared } = opening.current
    queryEditor.setValue(shared.query)
    variableEditor.setValue(shared.variables)
    opening.current = null
    held.current = hash
    updateActiveTabValues({ ...shared })
    // Until GraphiQL has read the new document, the operation of the tab before is chosen.
    const name = operationToSelect(shared.query, shared.operationName)
    if (name !== null) setOperationName(name)
  }, [shownTab, queryEditor, variableEditor, updateActiveTabValues, setOperationName])

  useEffect(() => {
    if (!queryEditor || !variableEditor) return
    const editors = [queryEditor, variableEditor]
    function leave(): void {
      const isHeld = opening.current === null && location.hash === held.current
      const shared = isHeld ? readShared(location.hash) : null
      const [query = '', variables = ''] = editors.map((editor) => editor.getValue())
      if (shared && !isSameQuery({ query, variables }, shared)) {
        navigation.replace(navigation.address().replace(/#.*$/s, ''))
      }
    }
    const follow = (): void => open.current(false)
    // The hash may have changed while the editors were loading.
    open.current(true)
    addEventListener('hashchange', follow)
    for (const editor of editors) editor.on('change', leave)
    return () => {
      removeEventListener('hashchange', follow)
      for (const editor of editors) editor.off('change', leave)
    }
  }, [queryEditor, variableEditor, navigation])
  return null
}
