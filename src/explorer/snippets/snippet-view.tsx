// A call in the language of one's choice, with or without the sign-in, to copy.
import { type ReactNode, useId, useState } from 'react'
import { CopyButton } from '../design/copy-button.tsx'
import type { Call, SignIn } from './call.ts'
import { SNIPPET_LANGUAGES, type SnippetLanguage } from './languages.ts'
import './snippet-view.css'

interface SnippetViewProps {
  readonly call: Call
  readonly signIn: SignIn
  readonly label: string
  /** Whether the sign-in is part of it from the beginning. */
  readonly isSigningIn?: boolean
}

const [FIRST_LANGUAGE] = SNIPPET_LANGUAGES

export function SnippetView({ call, signIn, label, isSigningIn = false }: SnippetViewProps): ReactNode {
  const offered = SNIPPET_LANGUAGES.filter(({ isForGraphqlOnly }) => call.graphql !== null || !isForGraphqlOnly)
  const [name, setName] = useState(FIRST_LANGUAGE?.name)
  const [signsIn, setSignsIn] = useState(isSigningIn)
  const language: SnippetLanguage | undefined = offered.find((row) => row.name === name) ?? offered[0]
  const selectId = useId()
  const text = language?.write(call, signsIn ? signIn : null) ?? ''
  return (
    <div className="snippet">
      <div className="snippet-head">
        <label htmlFor={selectId} className="unseen">
          {label}: language
        </label>
        <select id={selectId} value={language?.name} onChange={({ target }) => setName(target.value)}>
          {offered.map((row) => (
            <option key={row.name}>{row.name}</option>
          ))}
        </select>
        {call.token !== null && (
          <label className="check">
            <input type="checkbox" checked={signsIn} onChange={({ target }) => setSignsIn(target.checked)} />
            with sign-in
          </label>
        )}
        <span className="spread" />
        <CopyButton label="Copy" text={() => text} />
      </div>
      <section className="snippet-text" tabIndex={0} aria-label={`${label} in ${language?.name}`}>
        <pre>{text}</pre>
      </section>
    </div>
  )
}
