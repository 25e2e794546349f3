// Shows a call as code in the chosen language, with or without the sign-in, and a button that copies it.
import { type ReactNode, useId, useState } from 'react'
import { CopyButton } from '../design/copy-button.tsx'
import { useExplorer } from '../frame/use-explorer.ts'
import { type Call, type SignIn, TOKEN_VARIABLES } from './call.ts'
import { isEmailEnough } from './email-enough.ts'
import { SNIPPET_LANGUAGES, type SnippetLanguage } from './languages.ts'
import './snippet-view.css'

interface SnippetViewProps {
  /** The call, or a sentence that says why there is none. */
  readonly call: Call | string
  readonly signIn: SignIn
  readonly label: string
  /** Whether the snippet includes the sign-in initially. */
  readonly isSigningIn?: boolean
}

/** Captures a trailing backslash with up to eight characters before it, so that it never wraps to a line of its own. */
const CONTINUED = /(\S{1,8} \\)$/m
const [FIRST_LANGUAGE] = SNIPPET_LANGUAGES

export function SnippetView({ call, ...props }: SnippetViewProps): ReactNode {
  if (typeof call !== 'string') return <Snippet call={call} {...props} />
  return (
    <p className="snippet-none note" role="status">
      {call}
    </p>
  )
}

interface SnippetProps extends SnippetViewProps {
  readonly call: Call
}

function Snippet({ call, signIn, label, isSigningIn = false }: SnippetProps): ReactNode {
  const hasSignIn = isEmailEnough(useExplorer().facts)
  const offered = SNIPPET_LANGUAGES.filter(({ isForGraphqlOnly }) => call.graphql !== null || !isForGraphqlOnly)
  const [name, setName] = useState(FIRST_LANGUAGE?.name)
  const [signsIn, setSignsIn] = useState(isSigningIn)
  const language: SnippetLanguage | undefined = offered.find((row) => row.name === name) ?? offered[0]
  const selectId = useId()
  const text = language?.write(call, signsIn && hasSignIn ? signIn : null) ?? ''
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
        {call.token !== null && !hasSignIn && (
          <span className="note">
            An email alone does not sign in here: <code>{TOKEN_VARIABLES[call.token]}</code> must hold your token.
          </span>
        )}
        {call.token !== null && hasSignIn && (
          <label className="check">
            <input type="checkbox" checked={signsIn} onChange={({ target }) => setSignsIn(target.checked)} />
            with sign-in
          </label>
        )}
        <span className="spread" />
        <CopyButton label="Copy" text={() => text} />
      </div>
      <section className="snippet-text" tabIndex={0} aria-label={`${label} in ${language?.name}`}>
        <pre>
          {text.split(CONTINUED).map((part, at) =>
            at % 2 === 0 ? (
              part
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text, which have no other name.
              <span key={at} className="unbroken">
                {part}
              </span>
            ),
          )}
        </pre>
      </section>
    </div>
  )
}
