// A template or a UI library: the document itself, as it is stored.
import { type ReactNode, useCallback } from 'react'
import { elementTexts, memberText } from '../../json-text.ts'
import { queryText } from '../graphql-query.ts'
import { LinesView } from '../lines-view.tsx'
import { useExplorer } from '../use-explorer.ts'
import { useLoaded } from '../use-loaded.ts'

const FIELDS = { templates: 'templates', libraries: 'uiLibraries' } as const

interface DocumentViewProps {
  readonly kind: keyof typeof FIELDS
  /** The cursor of the item before; empty for the first. */
  readonly after: string
}

export function DocumentView({ kind, after }: DocumentViewProps): ReactNode {
  const { session } = useExplorer()
  const field = FIELDS[kind]
  const loaded = useLoaded(
    useCallback(async () => {
      const text = `query($after: String) { me { ${field}(first: 1, after: $after) { name description data } } }`
      const answer = await queryText(session, text, { after: after === '' ? null : after })
      const me = memberText(memberText(answer, 'data') ?? '', 'me') ?? ''
      const [found] = elementTexts(memberText(me, field) ?? '') ?? []
      if (found === undefined) throw new Error('It is not there any more.')
      const { name, description } = JSON.parse(found) as { name: string | null; description: string | null }
      return { name, description, text: memberText(found, 'data') ?? '' }
    }, [session, field, after]),
  )
  if (loaded.phase === 'loading') return <p className="note">Loading …</p>
  if (loaded.phase === 'failed') return <p role="alert">{loaded.message}</p>
  const { name, description, text } = loaded.value
  return (
    <section className="opened">
      <h2>{name}</h2>
      <p>{description}</p>
      <LinesView text={text} label="The document" isJson />
    </section>
  )
}
