// Restores the headers of each GraphiQL tab. They stay in this page's memory, because they may contain tokens.
import { useEditorContext } from '@graphiql/react'
import { useEffect } from 'react'
import { useExplorer, useSessionState } from '../../frame/use-explorer.ts'

/** CodeMirror's `origin` for a change made by a program. */
export const BY_PROGRAM = 'setValue'

export function KeepHeaders(): null {
  const { writtenHeaders } = useExplorer()
  const { email } = useSessionState()
  const { headerEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const shown = tabs[activeTabIndex]?.id

  useEffect(() => {
    if (!headerEditor || shown === undefined) return
    const byTab = writtenHeaders.get(email) ?? new Map<string, string>()
    writtenHeaders.set(email, byTab)
    const written = byTab.get(shown)
    if (written !== undefined && headerEditor.getValue() !== written) headerEditor.setValue(written)
    const tab = shown
    let isShown = true
    function note(editor: { getValue(): string }, { origin }: { readonly origin?: string | undefined }): void {
      if (origin !== BY_PROGRAM) {
        byTab.set(tab, editor.getValue())
        return
      }
      // The change comes from Prettify, from the history, or from switching tabs. After a switch, `isShown` is false by
      // then.
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
