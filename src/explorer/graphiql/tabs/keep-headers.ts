// Headers that a person wrote are there when they come back from another tab or page: in this page's memory only, since tokens may be in them.
import { useEditorContext } from '@graphiql/react'
import { useEffect } from 'react'
import { useExplorer, useSessionState } from '../../frame/use-explorer.ts'

/** What CodeMirror names a change that a program makes. */
const BY_PROGRAM = 'setValue'

export function KeepHeaders(): null {
  const { writtenHeaders } = useExplorer()
  const { email } = useSessionState()
  const { headerEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const shown = tabs[activeTabIndex]?.id

  useEffect(() => {
    if (!headerEditor || shown === undefined) return
    if (writtenHeaders.current?.email !== email) writtenHeaders.current = { email, byTab: new Map() }
    const { byTab } = writtenHeaders.current
    const written = byTab.get(shown)
    if (written !== undefined && headerEditor.getValue() !== written) headerEditor.setValue(written)
    const tab = shown
    let isShown = true
    function note(editor: { getValue(): string }, { origin }: { readonly origin?: string | undefined }): void {
      if (origin !== BY_PROGRAM) {
        byTab.set(tab, editor.getValue())
        return
      }
      // Of Prettify or the history, or the headers of the tab that is shown next: then this one is gone a moment later.
      setTimeout(() => {
        if (isShown) byTab.set(tab, editor.getValue())
      })
    }
    headerEditor.on('change', note)
    return () => {
      isShown = false
      headerEditor.off('change', note)
    }
  }, [writtenHeaders, email, headerEditor, shown])
  return null
}
