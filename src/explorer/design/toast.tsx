// Toasts: a sentence about something that happened out of sight is shown over every page for a while, and announced.
import { Check, Info, TriangleAlert, X } from 'lucide-react'
import {
  createContext,
  type FocusEvent,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
import { IconButton } from './icon-button.tsx'
import './styles/toast.css'

/** `done`: an action of the person succeeded. `told`: something happened without them. `failed`: an action failed. */
export type ToastKind = 'done' | 'told' | 'failed'
/** Returns a function that hides the toast. */
type ShowToast = (text: string, kind?: ToastKind, action?: ToastAction) => () => void

/** A button in the toast, which disappears when it is pressed. */
interface ToastAction {
  readonly label: string
  readonly run: () => void
}

interface Shown {
  readonly id: number
  readonly text: string
  readonly kind: ToastKind
  readonly action: ToastAction | undefined
}

const MOST_SHOWN = 3
const ICONS = { done: Check, told: Info, failed: TriangleAlert }
/** A message that the person does not expect takes longer to notice and read. */
const SHOWN_FOR_MS = { done: 4_000, told: 10_000, failed: 10_000 }

const ToastContext = createContext<ShowToast>(() => () => {})

export function useToast(): ShowToast {
  return useContext(ToastContext)
}

/** Provides `useToast` to its children. */
export function Toasts({ children }: { readonly children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<readonly Shown[]>([])
  const lastId = useRef(0)
  const hide = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), [])
  const show = useCallback<ShowToast>(
    (text, kind = 'done', action = undefined) => {
      lastId.current += 1
      const id = lastId.current
      setToasts((shown) => {
        // A repeated sentence replaces its earlier toast, and its timer starts again. Actions of the same name differ.
        const others = shown.filter((toast) => toast.text !== text || toast.action)
        return [...others, { id, text, kind, action }].slice(-MOST_SHOWN)
      })
      return () => hide(id)
    },
    [hide],
  )
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
  const { id, text, kind, action } = toast
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isHeld = isPointed || isFocused
  // The timer stops while the pointer is over the toast, or the focus is on one of its buttons.
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => onEnd(id), SHOWN_FOR_MS[kind])
    return () => clearTimeout(timer)
  }, [isHeld, id, kind, onEnd])
  const holding = {
    onFocus: () => setFocused(true),
    // The event also comes when the window loses the focus. The button is then focused again with the window.
    onBlur: ({ currentTarget }: FocusEvent) => setFocused(document.activeElement === currentTarget),
  }
  const Icon = ICONS[kind]
  return (
    <div
      className="toast"
      data-kind={kind}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
    >
      <Icon size={15} aria-hidden="true" /> <bdi>{text}</bdi>
      {action && (
        <button
          type="button"
          className="small"
          {...holding}
          onClick={() => {
            onEnd(id)
            action.run()
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton icon={X} title="Dismiss" {...holding} onClick={() => onEnd(id)} label="Dismiss this notice" />
    </div>
  )
}
