// Saves the latest edits when the page is left, because GraphiQL saves them only after the person pauses.
import { useEditorContext } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { keepTabs, type OwnStorage } from './own-storage.ts'

/** After this time GraphiQL has saved by itself. Saving again could overwrite newer tabs of another window. */
const KEPT_AFTER_MS = 1_000

interface KeepWrittenProps {
  readonly storage: OwnStorage
}

export function KeepWritten({ storage }: KeepWrittenProps): null {
  const { queryEditor, variableEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const writtenAt = useRef(Number.NEGATIVE_INFINITY)
  const keep = useRef(() => {})
  useEffect(() => {
    keep.current = () => {
      if (!queryEditor || !variableEditor || performance.now() - writtenAt.current > KEPT_AFTER_MS) return
      const written = {
        query: queryEditor.getValue(),
        variables: variableEditor.getValue(),
        operationName: queryEditor.operationName ?? null,
      }
      keepTabs(storage, { tabs, activeTabIndex, written })
    }
  }, [storage, queryEditor, variableEditor, tabs, activeTabIndex])
  useEffect(() => {
    const editors = [queryEditor, variableEditor]
    function note(): void {
      writtenAt.current = performance.now()
    }
    for (const editor of editors) editor?.on('change', note)
    return () => {
      for (const editor of editors) editor?.off('change', note)
    }
  }, [queryEditor, variableEditor])
  useEffect(() => {
    const leave = (): void => keep.current()
    addEventListener('pagehide', leave)
    return () => {
      removeEventListener('pagehide', leave)
      leave()
      // GraphiQL's pending save would write its older state.
      storage.close()
    }
  }, [storage])
  return null
}
