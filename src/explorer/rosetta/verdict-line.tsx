// Shows the verdict of the comparison in a colour per kind, or a hint while there is none.
import { CircleCheck, CircleDashed, CircleHelp, CircleX, LoaderCircle, OctagonX } from 'lucide-react'
import type { ReactNode } from 'react'
import { ImportHint } from '../design/import-hint.tsx'
import type { Verdict } from './comparison.ts'

const ICONS = { same: CircleCheck, different: CircleX, refused: OctagonX, incomparable: CircleHelp }

interface VerdictLineProps {
  readonly verdict: Verdict | null
  readonly isRunning: boolean
  /** Shown when nothing has been compared. */
  readonly hint: string
}

export function VerdictLine({ verdict, isRunning, hint }: VerdictLineProps): ReactNode {
  const Icon = isRunning ? LoaderCircle : verdict ? ICONS[verdict.kind] : CircleDashed
  return (
    <div role="status" className={verdict && !isRunning ? `verdict ${verdict.kind}` : 'verdict'}>
      <p>
        <Icon size={17} aria-hidden="true" /> {isRunning ? 'Running both sides …' : (verdict?.text ?? hint)}
      </p>
      {verdict?.isUnfilled && !isRunning && (
        <>
          <p>Whoever runs this gateway can put one in, from a file of lines of JSON:</p>
          <ImportHint />
        </>
      )}
      {verdict?.difference && !isRunning && (
        <dl className="difference">
          <dt>REST</dt>
          <dd>
            <code>{verdict.difference.rest}</code>
          </dd>
          <dt>GraphQL</dt>
          <dd>
            <code>{verdict.difference.graphql}</code>
          </dd>
        </dl>
      )}
    </div>
  )
}
