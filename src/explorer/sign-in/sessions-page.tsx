// The sessions page: lists the sessions of the signed-in user and ends one or all of them.
import { MonitorSmartphone } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { query } from '../answer/graphql-query.ts'
import { EmptyState } from '../design/empty-state.tsx'
import { Failure } from '../design/failure.tsx'
import { Skeleton } from '../design/skeleton.tsx'
import { useToast } from '../design/toast.tsx'
import { When } from '../design/when.tsx'
import { failureText } from '../frame/connection.ts'
import { lazyPart } from '../frame/lazy-part.tsx'
import { useConnection, useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { useLoaded } from '../frame/use-loaded.ts'

const EndAllDialog = lazyPart(
  async () => (await import('./end-all-dialog.tsx')).EndAllDialog,
  ({ onClose }) => onClose,
)

const QUERY = '{ me { sessions { id createdAt lastUsedAt expiresAt current userAgent network } } }'
const END_ONE = 'mutation($id: ID!) { revokeSession(id: $id) }'
const END_ALL = 'mutation { logoutEverywhere }'

interface Listed {
  readonly id: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string
  readonly current: boolean
  readonly userAgent: string | null
  readonly network: string | null
}

export function SessionsPage(): ReactNode {
  const { session } = useExplorer()
  const [times, setTimes] = useState(0)
  const [isAsking, setAsking] = useState(false)
  const { timesBack } = useConnection()
  const [failure, setFailure] = useState<{ readonly message: string; readonly timesBack: number } | null>(null)
  const toast = useToast()
  const heading = useRef<HTMLHeadingElement>(null)
  const loaded = useLoaded(
    useCallback(
      () => (times < 0 ? Promise.resolve(null) : query<{ me: { sessions: readonly Listed[] } | null }>(session, QUERY)),
      [session, times],
    ),
  )

  /** The list stays in sight, with the focus in it, while it is read again. */
  const [lastRead, setLastRead] = useState(loaded)
  if (loaded.phase === 'ready' && loaded !== lastRead) setLastRead(loaded)
  const shown = loaded.phase === 'loading' ? lastRead : loaded

  async function act(mutation: string, id?: string, said?: string): Promise<void> {
    setFailure(null)
    try {
      await query(session, mutation, id === undefined ? {} : { id })
      // Another session may have been ended meanwhile.
      setTimes((count) => count + 1)
      if (said !== undefined) toast(said)
    } catch (error) {
      setFailure({ message: failureText(error), timesBack })
    }
  }

  function endAll(): void {
    setAsking(false)
    void act(END_ALL)
  }

  // The button that ended a session disappears with its row.
  useEffect(() => {
    if (times > 0 && loaded.phase === 'ready' && document.activeElement === document.body) {
      heading.current?.focus({ preventScroll: true })
    }
  }, [times, loaded.phase])

  if (shown.phase === 'loading') return <Skeleton label="Loading" />
  if (shown.phase === 'failed') {
    const isUnknown = shown.message.includes('Cannot query field')
    const message = isUnknown ? 'This gateway does not list sessions. Signing out ends this one.' : shown.message
    return <Failure title="The sessions could not be read" message={message} onRetry={shown.retry} />
  }
  const sessions = shown.value?.me?.sessions ?? []
  if (sessions.length === 0) return <OnlyThisOne />
  return (
    <div className="page">
      <div className="files-head">
        <h1 ref={heading} tabIndex={-1}>
          Sessions
        </h1>
        <button type="button" onClick={() => setAsking(true)}>
          End all, this one too
        </button>
      </div>
      {isAsking && <EndAllDialog onEnd={endAll} onClose={() => setAsking(false)} />}
      {failure?.timesBack === timesBack && <p role="alert">{failure.message}</p>}
      <ul className="sessions">
        {sessions.map(({ id, createdAt, lastUsedAt, expiresAt, current, userAgent, network }) => (
          <li key={id}>
            <strong>
              <span title={userAgent ?? undefined}>{clientName(userAgent)}</span>{' '}
              {current && <span className="badge good">this one</span>}
            </strong>
            <span className="note" id={`session-${id}`}>
              {network !== null && `${network}, `}
              opened <When at={createdAt} />, used <When at={lastUsedAt ?? createdAt} />, ends <When at={expiresAt} />
            </span>
            {!current && (
              <button
                type="button"
                className="small"
                aria-describedby={`session-${id}`}
                onClick={() => void act(END_ONE, id, `The session of ${clientName(userAgent)} has ended.`)}
              >
                End<span className="unseen"> the session of {clientName(userAgent)}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

const BROWSERS = ['Firefox', 'Edg', 'Chrome', 'Safari'] as const

/** Returns the name of the browser, or the first word of another client's User-Agent. */
function clientName(userAgent: string | null): string {
  if (userAgent === null) return 'An unnamed client'
  const browser = BROWSERS.find((name) => userAgent.includes(`${name}/`))
  return browser === 'Edg' ? 'Edge' : (browser ?? userAgent.split(' ')[0] ?? userAgent)
}

function OnlyThisOne(): ReactNode {
  const { email } = useSessionState()
  return (
    <EmptyState Icon={MonitorSmartphone} title="Sessions" isPage>
      <p>
        No workspace is stored for <strong>{email}</strong>, so there are no sessions to list. Signing out ends this
        one.
      </p>
    </EmptyState>
  )
}
