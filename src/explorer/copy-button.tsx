// A button that copies, and says that it did.
import { type ReactNode, useState } from 'react'

interface CopyButtonProps {
  readonly label: string
  readonly text: () => string
}

export function CopyButton({ label, text }: CopyButtonProps): ReactNode {
  const [outcome, setOutcome] = useState<string | null>(null)
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text())
      setOutcome('Copied')
    } catch {
      setOutcome('Not allowed')
    }
    setTimeout(() => setOutcome(null), 1_500)
  }
  return (
    <button type="button" className="small" onClick={() => void copy()}>
      <span aria-live="polite">{outcome ?? label}</span>
    </button>
  )
}
