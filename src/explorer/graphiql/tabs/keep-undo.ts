// Gives each GraphiQL tab its own undo history. GraphiQL shows a tab by writing its text into the editors of the tab
// before, where undo would bring back that tab's text.
import { useEditorContext } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { BY_PROGRAM } from './keep-headers.ts'

interface Kept {
  readonly text: string
  /** In CodeMirror's own format. */
  readonly history: unknown
}

export function KeepUndo(): null {
  const { queryEditor, variableEditor, headerEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const shown = tabs[activeTabIndex]?.id
  /** Keyed by tab and editor. */
  const kept = useRef(new Map<string, Kept>())

  useEffect(() => {
    if (shown === undefined) return
    const stops = [queryEditor, variableEditor, headerEditor].map((editor, index) => {
      if (!editor) return () => {}
      const key = `${shown} ${index}`
      const left = kept.current.get(key)
      // The steps of a history are positions, which are valid only in the text that it ended with.
      if (left?.text === editor.getValue()) editor.setHistory(left.history)
      else editor.clearHistory()
      const keep = (_editor: object, { origin }: { readonly origin?: string | undefined }): void => {
        // The tab may be left now. Prettify and the history of queries write this way too, which does no harm.
        if (origin === BY_PROGRAM) kept.current.set(key, { text: editor.getValue(), history: editor.getHistory() })
      }
      editor.on('beforeChange', keep)
      return () => editor.off('beforeChange', keep)
    })
    return () => {
      for (const stop of stops) stop()
    }
  }, [queryEditor, variableEditor, headerEditor, shown])
  return null
}
