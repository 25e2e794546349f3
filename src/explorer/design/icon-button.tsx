// A button that shows only an icon: its words are in a tooltip, and for screen readers.
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'

interface IconButtonProps extends ComponentProps<'button'> {
  readonly icon: LucideIcon
  readonly title: string
  /** What screen readers say, where it differs from the tooltip. */
  readonly label?: string
}

export function IconButton({ icon: Icon, label, ...button }: IconButtonProps): ReactNode {
  return (
    <button type="button" className="icon" {...button}>
      <Icon size={15} aria-hidden="true" />
      <span className="unseen">{label ?? button.title}</span>
    </button>
  )
}
