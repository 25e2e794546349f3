// GraphiQL opens on an answer: an example runs as soon as it is looked at, unless it changes something.
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react'
import { useEffect, useRef } from 'react'

export function RunFirst({ examples }: { readonly examples: readonly string[] }): null {
  const editor = useGraphiQL((state) => state.queryEditor)
  const schema = useGraphiQL((state) => state.schema)
  const tab = useGraphiQL((state) => state.activeTabIndex)
  const { run } = useGraphiQLActions()
  const ran = useRef(new Set<string>())
  useEffect(() => {
    const shown = editor?.getValue() ?? ''
    if (tab < 0 || !schema || ran.current.has(shown) || !examples.includes(shown)) return
    ran.current.add(shown)
    if (!/^mutation\b/m.test(shown)) run()
  }, [editor, schema, run, examples, tab])
  return null
}
