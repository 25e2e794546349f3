// A sentence about something that happened out of sight: shown for a while over every page, and read out.
import { Check, Info, TriangleAlert, X } from 'lucide-react'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'
import './styles/toast.css'

/** `done`: what the person asked for has happened. `told`: it happened without them. `failed`: it did not happen. */
export type ToastKind = 'done' | 'told' | 'failed'
type ShowToast = (text: string, kind?: ToastKind) => void

interface Shown {
  readonly id: number
  readonly text: string
  readonly kind: ToastKind
}

const MOST_SHOWN = 3
const ICONS = { done: Check, told: Info, failed: TriangleAlert }
/** What nobody asked for takes longer to be noticed and read. */
const SHOWN_FOR_MS = { done: 4_000, told: 10_000, failed: 10_000 }

const ToastContext = createContext<ShowToast>(() => {})

export function useToast(): ShowToast {
  return useContext(ToastContext)
}

/** Around everything that may say something. */
export function Toasts({ children }: { readonly children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<readonly Shown[]>([])
  const show = useCallback<ShowToast>((text, kind = 'done') => {
    setToasts((shown) => {
      // The same sentence again is one toast, whose time begins anew.
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
      {/* Always there: a reader hears what comes into it, and not the buttons of a notice. */}
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
  const [isHeld, setHeld] = useState(false)
  // It stays for as long as somebody points at it.
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => onEnd(id), SHOWN_FOR_MS[kind])
    return () => clearTimeout(timer)
  }, [isHeld, id, kind, onEnd])
  const Icon = ICONS[kind]
  return (
    <div className="toast" data-kind={kind} onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)}>
      <Icon size={15} aria-hidden="true" /> <bdi>{text}</bdi>
      <button type="button" className="icon" title="Dismiss" onClick={() => onEnd(id)}>
        <X size={15} aria-hidden="true" />
        <span className="unseen">Dismiss this notice</span>
      </button>
    </div>
  )
}
