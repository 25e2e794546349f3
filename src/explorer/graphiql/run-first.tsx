// GraphiQL opens on an answer: the first example runs as soon as it can, unless the person has queries of their own.
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react'
import { useEffect, useRef } from 'react'

export function RunFirst({ example }: { readonly example: string }): null {
  const editor = useGraphiQL((state) => state.queryEditor)
  const schema = useGraphiQL((state) => state.schema)
  const { run } = useGraphiQLActions()
  const hasRun = useRef(false)
  useEffect(() => {
    if (hasRun.current || !editor || !schema || editor.getValue() !== example) return
    hasRun.current = true
    run()
  }, [editor, schema, run, example])
  return null
}
