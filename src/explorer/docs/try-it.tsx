// Trying a call of the reference, signed in as the user.
import { type ReactNode, useState } from 'react'
import type { Answer } from '../answer.ts'
import { AnswerView } from '../answer-view.tsx'
import { Link } from '../navigation.tsx'
import { noAnswer, sendRest } from '../rosetta/use-runs.ts'
import { ValueField } from '../rosetta/value-field.tsx'
import { useExplorer, useSessionState } from '../use-explorer.ts'

interface TryItProps {
  readonly method: string
  readonly path: string
  /** References to choose from, the first of them to begin with. */
  readonly refs: readonly string[]
}

export function TryIt({ method, path, refs }: TryItProps): ReactNode {
  const { facts, session } = useExplorer()
  const { phase, email } = useSessionState()
  const route = facts.routes.find((row) => row.method === method && row.path === path)
  const [edited, setEdited] = useState<string | null>(null)
  const value = edited ?? (route?.field === 'email' ? email : refs[0]) ?? ''
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [isRunning, setRunning] = useState(false)
  if (!route) return null
  if (phase !== 'signed-in') {
    return (
      <p className="note">
        <Link to="/">Sign in</Link> to try it here.
      </p>
    )
  }

  async function run(row: NonNullable<typeof route>): Promise<void> {
    setRunning(true)
    try {
      const token = row.field === 'refreshToken' ? (await session.openAnother()).refreshToken : value
      setAnswer(await sendRest({ route: row, value: token }, session))
    } catch (error) {
      setAnswer(noAnswer(error))
    } finally {
      setRunning(false)
    }
  }

  return (
    <div className="try">
      <div className="controls">
        <ValueField route={route} value={value} refs={refs} onChange={setEdited} />
        <button type="button" onClick={() => void run(route)} disabled={isRunning}>
          Try it<span className="unseen">: {`${method} ${path}`}</span>
        </button>
      </div>
      {answer && <AnswerView answer={answer} isRunning={isRunning} label={`Answer of ${method} ${path}`} />}
    </div>
  )
}
