// Signing in with an email, by the gateway's own login.
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useExplorer, useSessionState } from './use-explorer.ts'

export function SignInPanel(): ReactNode {
  const { session, facts } = useExplorer()
  const { phase, email, message } = useSessionState()
  if (phase === 'waiting') {
    return (
      <section className="card" aria-live="polite">
        <h1>Look into your mailbox</h1>
        <p>
          A message is on its way to <strong>{email}</strong>. Approve the sign-in there: this page goes on by itself.
        </p>
        <button type="button" onClick={() => void session.signOut()}>
          Cancel
        </button>
      </section>
    )
  }
  return (
    <section className="card">
      <h1>Sign in</h1>
      <p>Enter the email whose workspace you want to see.</p>
      {message !== null && <p role="alert">{message}</p>}
      <SignInForm label="Email" suggestion={facts.demoEmail ?? ''} />
      <p className="note">
        Your tokens stay in this page: they are never in an address, and never in localStorage. This gateway lets people
        in by its <code>{facts.loginGuard}</code> login guard.
      </p>
    </section>
  )
}

interface SignInFormProps {
  readonly label: string
  readonly suggestion?: string
  readonly onDone?: () => void
}

export function SignInForm({ label, suggestion = '', onDone }: SignInFormProps): ReactNode {
  const { session } = useExplorer()
  const [email, setEmail] = useState(suggestion)
  const [failure, setFailure] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [inputId, failureId] = [useId(), useId()]

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setFailure(null)
    try {
      await session.signIn(email)
      onDone?.()
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <label htmlFor={inputId}>{label}</label>
      <div className="row">
        <input
          id={inputId}
          type="email"
          autoComplete="email"
          placeholder="name@example.com"
          value={email}
          aria-invalid={failure !== null}
          aria-describedby={failure === null ? undefined : failureId}
          onChange={(event) => setEmail(event.target.value)}
        />
        <button type="submit" className="primary" disabled={isBusy}>
          Sign in
        </button>
      </div>
      {failure !== null && (
        <p role="alert" id={failureId}>
          {failure}
        </p>
      )}
    </form>
  )
}
