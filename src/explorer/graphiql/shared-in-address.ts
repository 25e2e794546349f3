// The address names a shared query only while the editors hold it: what is written afterwards is there after a reload.
import { useEditorContext } from '@graphiql/react'
import { useEffect } from 'react'
import { useExplorer } from '../frame/use-explorer.ts'
import type { SharedQuery } from './shared-query.ts'

interface SharedInAddressProps {
  readonly shared: SharedQuery | null
}

export function SharedInAddress({ shared }: SharedInAddressProps): null {
  const { navigation } = useExplorer()
  const { queryEditor, variableEditor } = useEditorContext({ nonNull: true })
  useEffect(() => {
    if (!shared || !queryEditor || !variableEditor) return
    const editors = [queryEditor, variableEditor]
    function follow(): void {
      const [query, variables] = editors.map((editor) => editor.getValue())
      if (query !== shared?.query || variables !== shared?.variables) {
        navigation.replace(navigation.address().replace(/#.*$/s, ''))
      }
    }
    for (const editor of editors) editor.on('change', follow)
    return () => {
      for (const editor of editors) editor.off('change', follow)
    }
  }, [shared, queryEditor, variableEditor, navigation])
  return null
}
