// Runs the query of a tab when the tab is first shown, unless the query may change something.
import { useEditorContext, useExecutionContext, useSchemaStore } from '@graphiql/react'
import { useEffect, useRef } from 'react'
import { isReading } from './operations.ts'

interface RunFirstProps {
  /** Whether the gateway answered that it does not give its schema: then no tab waits for it. */
  readonly isSchemaRefused: boolean
}

export function RunFirst({ isSchemaRefused }: RunFirstProps): null {
  const { queryEditor, variableEditor, responseEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const { schema, fetchError } = useSchemaStore()
  const { run } = useExecutionContext({ nonNull: true })
  const seen = useRef(new Set<string>())
  const tab = tabs[activeTabIndex]?.id
  const isReady = schema != null || (isSchemaRefused && fetchError !== null)
  useEffect(() => {
    // Without a response editor GraphiQL silently sends nothing; without a variable editor it sends no variables.
    if (tab === undefined || !queryEditor || !variableEditor || !responseEditor || !isReady) return
    // Once per tab: afterwards the person decides when to run what they write.
    if (seen.current.has(tab)) return
    seen.current.add(tab)
    if (isReading(queryEditor.getValue())) run()
  }, [queryEditor, variableEditor, responseEditor, isReady, run, tab])
  return null
}
