// Toasts: a sentence about something that happened out of sight is shown over every page for a while, and announced.
import { Check, Info, TriangleAlert, X } from 'lucide-react'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'
import { IconButton } from './icon-button.tsx'
import './styles/toast.css'

/** `done`: an action of the person succeeded. `told`: something happened without them. `failed`: an action failed. */
export type ToastKind = 'done' | 'told' | 'failed'
type ShowToast = (text: string, kind?: ToastKind) => void

interface Shown {
  readonly id: number
  readonly text: string
  readonly kind: ToastKind
}

const MOST_SHOWN = 3
const ICONS = { done: Check, told: Info, failed: TriangleAlert }
/** A message that the person does not expect takes longer to notice and read. */
const SHOWN_FOR_MS = { done: 4_000, told: 10_000, failed: 10_000 }

const ToastContext = createContext<ShowToast>(() => {})

export function useToast(): ShowToast {
  return useContext(ToastContext)
}

/** Provides `useToast` to its children. */
export function Toasts({ children }: { readonly children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<readonly Shown[]>([])
  const show = useCallback<ShowToast>((text, kind = 'done') => {
    setToasts((shown) => {
      // A repeated sentence replaces its earlier toast, and its timer starts again.
      const others = shown.filter((toast) => toast.text !== text)
      return [...others, { id: (shown.at(-1)?.id ?? 0) + 1, text, kind }].slice(-MOST_SHOWN)
    })
  }, [])
  const hide = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), [])
  return (
    <ToastContext value={show}>
      {children}
      <section className="toasts" aria-label="Notices">
        {toasts.map((toast) => (
          <Toast key={toast.id} toast={toast} onEnd={hide} />
        ))}
      </section>
      {/* Always rendered: a screen reader announces text added to it, and does not read the buttons of a toast. */}
      <div className="unseen" role="status" aria-atomic="false">
        {toasts.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
    </ToastContext>
  )
}

function Toast({ toast, onEnd }: { readonly toast: Shown; readonly onEnd: (id: number) => void }): ReactNode {
  const { id, text, kind } = toast
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isHeld = isPointed || isFocused
  // The timer stops while the pointer is over the toast, or the focus is on its button.
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => onEnd(id), SHOWN_FOR_MS[kind])
    return () => clearTimeout(timer)
  }, [isHeld, id, kind, onEnd])
  const Icon = ICONS[kind]
  return (
    <div
      className="toast"
      data-kind={kind}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
    >
      <Icon size={15} aria-hidden="true" /> <bdi>{text}</bdi>
      <IconButton
        icon={X}
        title="Dismiss"
        onFocus={() => setFocused(true)}
        // The event also comes when the window loses the focus. The button is then focused again with the window.
        onBlur={({ currentTarget }) => setFocused(document.activeElement === currentTarget)}
        onClick={() => onEnd(id)}
        label="Dismiss this notice"
      />
    </div>
  )
}
