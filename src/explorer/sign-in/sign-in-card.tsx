// The sign-in card: the sign-in form, the session's message, and a note on how the gateway decides who may sign in.
import type { ReactNode } from 'react'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { askedGuards } from './asked-guards.ts'
import { SignInForm } from './sign-in-form.tsx'

/** How the gateway decides who may sign in, by the name of a login guard. */
const GUARDS: Readonly<Record<string, string>> = {
  local: 'This gateway trusts people on its own machine: an email is enough.',
  mail: 'A code is sent to your mailbox.',
  open: 'Careful: this gateway lets anybody in as anybody. Use it for trying things out only.',
}
const MAILED_TO_OTHERS = 'Everybody else is mailed a code.'

export function SignInCard(): ReactNode {
  const { facts, leftSignIn } = useExplorer()
  const { message } = useSessionState()
  const guards = askedGuards(facts)
  const hint = guards
    .map((name) => (name === 'mail' && guards.includes('local') ? MAILED_TO_OTHERS : (GUARDS[name] ?? '')))
    .filter((sentence) => sentence !== '')
    .join(' ')
  return (
    <section className="card">
      <h1>Sign in</h1>
      <p>
        See the workspace of an email on <strong>{location.host}</strong>: its projects, exports, templates and UI
        libraries.
      </p>
      {message !== null && (
        <p role="alert" className={message.isFailure ? 'notice' : 'notice told'}>
          {message.text}
        </p>
      )}
      <SignInForm label="Email" suggestion={facts.demoEmail ?? ''} left={leftSignIn} />
      {hint !== '' && <p className={guards.includes('open') ? 'notice warn' : 'note'}>{hint}</p>}
    </section>
  )
}
