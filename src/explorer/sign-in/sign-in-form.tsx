// The sign-in form: email, the code from the mailbox if the gateway asks for one, and whether to stay signed in.
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { failureText } from '../frame/connection.ts'
import { useExplorer } from '../frame/use-explorer.ts'
import { askedGuards } from './asked-guards.ts'
import { LoginFailure } from './session/login.ts'
import { type KeptSignIn, keepSignIn, NOTHING_WRITTEN, type WrittenSignIn } from './written-sign-in.ts'

/** Replaces the gateway's message, which tells programs to sign in without a code; this page has a button for that. */
const CODE_WRONG = 'The code is wrong or no longer valid.'

/** The guard `client` asks for the secret of a program, which a form must not ask people for. */
const CLIENTS_ONLY = 'Only registered programs can sign people in at this gateway, so nobody can sign in on this page.'

interface SignInFormProps {
  readonly label: string
  readonly suggestion?: string
  /** Whether the form asks to stay signed in. Without it, the choice of this tab holds. */
  readonly canRemember?: boolean
  /** Keeps what is typed when the form disappears; without it, the form begins anew. */
  readonly left?: KeptSignIn
  readonly onDone?: () => void
}

/** The form, or a sentence instead of it where nobody can sign in. */
export function SignInForm(props: SignInFormProps): ReactNode {
  const { facts } = useExplorer()
  const guards = askedGuards(facts)
  if (guards.includes('none')) return <p className="note">This gateway opens no new sessions at the moment.</p>
  if (guards.every((name) => name === 'client')) return <p className="note">{CLIENTS_ONLY}</p>
  return <Form {...props} />
}

function Form({ label, suggestion = '', canRemember = true, left, onDone }: SignInFormProps): ReactNode {
  const { session } = useExplorer()
  const [own] = useState(keepSignIn)
  const kept = left ?? own
  const unwritten = { ...NOTHING_WRITTEN, email: suggestion }
  const { email, code, isCodeSent, isRemembered, isBusy, failure } =
    useSyncExternalStore(kept.subscribe, () => kept.current) ?? unwritten
  const [inputId, codeId, failureId] = [useId(), useId(), useId()]
  const emailField = useRef<HTMLInputElement>(null)
  const codeField = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isCodeSent) codeField.current?.focus()
  }, [isCodeSent])

  function write(change: Partial<WrittenSignIn>): void {
    kept.current = { ...(kept.current ?? unwritten), ...change }
  }

  /** Without `given`, the gateway sends a code if its login guard asks for one. */
  async function signIn(given?: string): Promise<void> {
    write({ isBusy: true, failure: null })
    try {
      await session.signIn(email, {
        ...(given === undefined ? {} : { code: given }),
        ...(canRemember ? { isRemembered } : {}),
      })
      kept.current = null
      onDone?.()
    } catch (error) {
      // Somebody has signed in meanwhile, in another tab.
      if (kept.current === null) return
      const asks = error instanceof LoginFailure ? error.code : ''
      const isCodeNeeded = asks === 'LOGIN_CODE_SENT' && given === undefined
      const reason = asks === 'LOGIN_CODE_WRONG' ? CODE_WRONG : failureText(error)
      write({ isBusy: false, ...(isCodeNeeded ? { isCodeSent: true } : { failure: reason }) })
    }
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isBusy) return
    if (email.trim() === '') write({ failure: 'Enter an email address.' })
    else if (isCodeSent && code.trim() === '') write({ failure: 'Enter the code from the message.' })
    else void signIn(isCodeSent ? code.trim() : undefined)
  }

  function sendAnother(): void {
    if (isBusy) return
    write({ code: '' })
    codeField.current?.focus()
    void signIn()
  }

  /** The button disappears together with the code field, so the focus moves to the email field. */
  function askForAnotherAddress(): void {
    if (isBusy) return
    write({ isCodeSent: false, code: '', failure: null })
    emailField.current?.focus()
  }

  const describedBy = failure === null ? undefined : failureId
  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor={inputId}>{label}</label>
      <input
        ref={emailField}
        id={inputId}
        type="email"
        autoComplete="email"
        placeholder="name@example.com"
        value={email}
        // A code is valid only for the address that it was requested for.
        readOnly={isBusy || isCodeSent}
        aria-invalid={failure !== null && !isCodeSent}
        aria-describedby={describedBy}
        onChange={(event) => write({ email: event.target.value })}
      />
      {isCodeSent && (
        <>
          <label htmlFor={codeId}>Code from the message</label>
          <input
            ref={codeField}
            id={codeId}
            className="code"
            value={code}
            autoComplete="one-time-code"
            autoCapitalize="characters"
            spellCheck={false}
            aria-invalid={failure !== null}
            aria-describedby={describedBy}
            onChange={(event) => write({ code: event.target.value })}
          />
          <p className="note" role="status">
            If {email} may sign in here, a message with a code is on its way.{' '}
            <button type="button" className="link" onClick={sendAnother}>
              Send another code
            </button>{' '}
            <button type="button" className="link" onClick={askForAnotherAddress}>
              Use another address
            </button>
          </p>
        </>
      )}
      {failure !== null && (
        <p role="alert" id={failureId}>
          {failure}
        </p>
      )}
      {canRemember && (
        <label className="check">
          <input
            type="checkbox"
            checked={isRemembered}
            onChange={({ target }) => write({ isRemembered: target.checked })}
          />
          Keep me signed in over a reload of this tab
        </label>
      )}
      {/* aria-disabled, because a disabled button loses the focus. */}
      <button type="submit" className="primary wide" aria-disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </button>
    </form>
  )
}
