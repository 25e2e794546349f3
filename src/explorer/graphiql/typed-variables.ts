// Gives the fetcher the variables as they were typed. GraphiQL passes them on as JavaScript values, which turns 1e400 into
// null and rounds 12345678901234567890.
import { useEditorContext } from '@graphiql/react'
import { type RefObject, useEffect } from 'react'

export interface VariableEditor {
  getValue(): string
}

interface TypedVariablesProps {
  readonly editor: RefObject<VariableEditor | null>
}

export function TypedVariables({ editor }: TypedVariablesProps): null {
  const { variableEditor } = useEditorContext({ nonNull: true })
  useEffect(() => {
    editor.current = variableEditor
  }, [editor, variableEditor])
  return null
}
