// The list of past runs, each with a link that restores it.
import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { timeText } from '../../answer/answer.ts'
import { When } from '../../design/when.tsx'
import { Link } from '../../frame/navigation/link.tsx'
import { useExplorer, useSessionState } from '../../frame/use-explorer.ts'

export function PastRuns(): ReactNode {
  const { history } = useExplorer()
  const { email } = useSessionState()
  const runs = useSyncExternalStore(history.subscribe, history.runs).filter((run) => run.email === email)
  const [isOpen, setOpen] = useState(false)
  if (runs.length === 0) return null
  return (
    <details className="past-runs" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>History of runs ({runs.length})</summary>
      <ol>
        {/* Rendered only while open, because the first formatting of a relative time is slow in a browser. */}
        {(isOpen ? runs : []).map(({ at, address, route, value, statuses, durationsMs, verdict }) => (
          <li key={at}>
            <Link to={address}>
              {route} {value !== '' && <span className="past-value">{value}</span>}
            </Link>
            <span className={`status ${TONES[verdict.kind]}`}>{verdict.kind}</span>
            <span className="note">
              REST {statuses[0]} in {timeText(durationsMs[0])}, GraphQL {statuses[1]} in {timeText(durationsMs[1])},{' '}
              <When at={at} />
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}

const TONES = { same: 'good', different: 'bad', refused: 'warn', incomparable: '' }
