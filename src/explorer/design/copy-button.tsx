// A button that copies, and says that it did without changing its width.
import { Check, Copy, type LucideIcon, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { copyText } from './clipboard.ts'

interface CopyButtonProps {
  readonly label: string
  readonly text: () => string
  /** An icon alone; the label is read out. */
  readonly isIcon?: boolean
  readonly Icon?: LucideIcon
}

const SHOWN_FOR_MS = 1_500
const SPOKEN = { idle: '', copied: 'Copied', failed: 'The browser did not let this page copy' }

export function CopyButton({ label, text, isIcon = false, Icon = Copy }: CopyButtonProps): ReactNode {
  const [outcome, setOutcome] = useState<keyof typeof SPOKEN>('idle')
  const Shown = outcome === 'idle' ? Icon : outcome === 'copied' ? Check : X
  async function copy(): Promise<void> {
    setOutcome((await copyText(text())) ? 'copied' : 'failed')
    setTimeout(() => setOutcome('idle'), SHOWN_FOR_MS)
  }
  return (
    <button
      type="button"
      className={isIcon ? 'icon' : 'small'}
      title={SPOKEN[outcome] || label}
      data-outcome={outcome}
      onClick={() => void copy()}
    >
      <Shown size={15} aria-hidden="true" />
      <span className={isIcon ? 'unseen' : undefined}>{label}</span>
      <span className="unseen" role="status">
        {SPOKEN[outcome]}
      </span>
    </button>
  )
}
