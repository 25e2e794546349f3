// The account menu: the signed-in user, the remaining token time, and the sign-out button.
import { ChevronDown } from 'lucide-react'
import { type ReactNode, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react'
import { Link } from '../frame/navigation/link.tsx'
import { useDismissal } from '../frame/use-dismissal.ts'
import { useConnection, useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { SignInForm } from './sign-in-form.tsx'
import './account.css'

export function AccountMenu(): ReactNode {
  const { session } = useExplorer()
  const { isUp } = useConnection()
  const { phase, email, endsAt, isRemembered } = useSessionState()
  const [isOpen, setOpen] = useState(false)
  const [wasOpened, setWasOpened] = useState(false)
  if (isOpen && !wasOpened) setWasOpened(true)
  const panelId = useId()
  const opener = useRef<HTMLButtonElement>(null)

  useDismissal(isOpen, setOpen, '.account', opener)

  function closeDone(): void {
    opener.current?.focus()
    setOpen(false)
    setWasOpened(false)
  }

  if (phase !== 'signed-in') return null
  return (
    <div className="account">
      <button
        ref={opener}
        type="button"
        className="quiet"
        aria-expanded={isOpen}
        aria-controls={panelId}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="dot" data-up={isUp} title={isUp ? 'The gateway answers' : 'The gateway does not answer'} />
        <span className="unseen">Signed in as </span>
        <span className="email">{email}</span>
        <ChevronDown size={14} aria-hidden="true" />
      </button>
      {/* Hidden instead of unmounted, so that typed text is still there when the panel opens again. */}
      {wasOpened && (
        <div className="panel" id={panelId} hidden={!isOpen}>
          <p>
            Signed in as <strong>{email}</strong>
          </p>
          <p className="note">
            {isUp ? 'The access token is renewed in ' : 'The gateway does not answer. Its token ends in '}
            {isOpen && <TimeLeft endsAt={endsAt ?? 0} />}
          </p>
          <label className="check">
            <input
              type="checkbox"
              checked={isRemembered}
              onChange={(event) => session.remember(event.target.checked)}
            />
            Keep me signed in over a reload of this tab
          </label>
          <div className="buttons">
            <Link to="/sessions" className="button" onFollow={() => setOpen(false)}>
              Sessions
            </Link>
            <button type="button" onClick={() => void session.signOut()}>
              Sign out
            </button>
          </div>
          <details onToggle={focusField}>
            <summary>Sign in as somebody else</summary>
            {/* The panel already has the choice to stay signed in. */}
            <SignInForm label="Email" canRemember={false} onDone={closeDone} />
          </details>
        </div>
      )}
    </div>
  )
}

function focusField({ currentTarget }: SyntheticEvent<HTMLDetailsElement>): void {
  if (currentTarget.open) currentTarget.querySelector('input')?.focus()
}

function TimeLeft({ endsAt }: { readonly endsAt: number }): ReactNode {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((endsAt - now) / 1_000))
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return <time dateTime={new Date(endsAt).toISOString()}>{text}</time>
}
