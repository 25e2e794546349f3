// A button that copies a text and confirms it without changing its own width.
import { Check, Copy, type LucideIcon, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useToast } from './toast.tsx'

interface CopyButtonProps {
  readonly label: string
  readonly text: () => string
  /** Shows only the icon; the label remains for screen readers. */
  readonly isIcon?: boolean
  readonly Icon?: LucideIcon
  /** Text of the toast after a successful copy. */
  readonly said?: (text: string) => string
}

const SHOWN_FOR_MS = 1_500
export const LINK_COPIED = 'Link copied. It holds no token.'
const REFUSED = 'The browser did not let this page copy.'

function copiedText(text: string): string {
  return `Copied, ${text.length.toLocaleString()} ${text.length === 1 ? 'character' : 'characters'}.`
}

export function CopyButton({
  label,
  text,
  isIcon = false,
  Icon = Copy,
  said = copiedText,
}: CopyButtonProps): ReactNode {
  const [outcome, setOutcome] = useState<'idle' | 'copied' | 'failed'>('idle')
  const toast = useToast()
  const Shown = outcome === 'idle' ? Icon : outcome === 'copied' ? Check : X
  async function copy(): Promise<void> {
    const copied = text()
    const isCopied = await copyText(copied)
    setOutcome(isCopied ? 'copied' : 'failed')
    if (isCopied) toast(said(copied))
    else toast(REFUSED, 'failed')
    setTimeout(() => setOutcome('idle'), SHOWN_FOR_MS)
  }
  return (
    <button
      type="button"
      className={isIcon ? 'icon' : 'small'}
      title={label}
      data-outcome={outcome}
      onClick={() => void copy()}
    >
      <Shown size={15} aria-hidden="true" />
      <span className={isIcon ? 'unseen' : undefined}>{label}</span>
    </button>
  )
}

/** Also over plain HTTP, where browsers do not expose the Clipboard API. Resolves to false when the browser refuses. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
