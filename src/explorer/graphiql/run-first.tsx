// GraphiQL opens on an answer: what a tab holds runs as soon as it is looked at, unless it may change something.
import { useEditorContext, useExecutionContext, useSchemaStore } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { isReading } from './operations.ts'

export function RunFirst(): null {
  const { queryEditor, variableEditor, responseEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const { schema } = useSchemaStore()
  const { run } = useExecutionContext({ nonNull: true })
  const seen = useRef(new Set<string>())
  const tab = tabs[activeTabIndex]?.id
  useEffect(() => {
    // Without a place for the answer GraphiQL asks for nothing, and does not say so; without that of the variables it sends none.
    if (tab === undefined || !queryEditor || !variableEditor || !responseEditor || !schema) return
    // Once: afterwards the person says when what is being written runs.
    if (seen.current.has(tab)) return
    seen.current.add(tab)
    if (isReading(queryEditor.getValue())) run()
  }, [queryEditor, variableEditor, responseEditor, schema, run, tab])
  return null
}
