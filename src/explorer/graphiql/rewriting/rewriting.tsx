// The buttons and keys that rewrite what a person wrote, in place of GraphiQL's own, which lose comments and round numbers.
import { MergeIcon, PrettifyIcon, ToolbarButton, useEditorContext, useSchemaStore } from '@graphiql/react'
import { GraphQLError } from 'graphql'
import { type ReactNode, useCallback, useEffect } from 'react'
import { useToast } from '../../design/toast.tsx'
import { merged } from './merged.ts'
import { prettified, prettifiedJson } from './prettified.ts'

/** GraphiQL's own keys with Shift and Ctrl. */
const KEYS: Readonly<Record<string, 'prettify' | 'merge'>> = { P: 'prettify', F: 'prettify', M: 'merge' }

interface Editor {
  getValue(): string
  setValue(text: string): void
}

export function Rewriting(): ReactNode {
  const { queryEditor, variableEditor, headerEditor } = useEditorContext({ nonNull: true })
  const { schema } = useSchemaStore()
  const showToast = useToast()

  const prettify = useCallback(() => {
    rewrite(variableEditor, prettifiedJson)
    rewrite(headerEditor, prettifiedJson)
    rewrite(queryEditor, prettified)
  }, [queryEditor, variableEditor, headerEditor])

  const merge = useCallback(() => {
    const reason = rewrite(queryEditor, (query) => merged(query, schema))
    if (reason !== null) showToast(reason, 'failed')
  }, [queryEditor, schema, showToast])

  useEffect(() => {
    function press(_editor: object, event: KeyboardEvent): void {
      if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey) return
      // As CodeMirror, which names keys by their code: its keys are the same in an alphabet without these letters.
      const name = String.fromCharCode(event.keyCode)
      const action = KEYS[name]
      if (action === undefined) return
      // CodeMirror, and with it GraphiQL, ignores a key that is prevented.
      event.preventDefault()
      if (action === 'prettify') prettify()
      else merge()
    }
    const editors = [queryEditor, variableEditor, headerEditor]
    for (const editor of editors) editor?.on('keydown', press)
    return () => {
      for (const editor of editors) editor?.off('keydown', press)
    }
  }, [queryEditor, variableEditor, headerEditor, prettify, merge])

  return (
    <>
      <ToolbarButton onClick={prettify} label="Prettify query (Shift-Ctrl-P)">
        <PrettifyIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      <ToolbarButton onClick={merge} label="Merge fragments into query (Shift-Ctrl-M)">
        <MergeIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
    </>
  )
}

/** Returns why the text stays as it is, or null. A text with a syntax error stays too: the editor marks the error. */
function rewrite(editor: Editor | null, change: (text: string) => string): string | null {
  const written = editor?.getValue() ?? ''
  try {
    const text = change(written)
    if (text !== written) editor?.setValue(text)
    return null
  } catch (error) {
    if (error instanceof GraphQLError) return null
    return error instanceof Error ? error.message : String(error)
  }
}
