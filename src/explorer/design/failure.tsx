// An error message with a retry button.
import { RotateCw, TriangleAlert } from 'lucide-react'
import type { MouseEvent, ReactNode } from 'react'

/** For a button that disappears with what it retries: moves its focus into the page. Any other focus stays. */
export function passFocusOn(button: HTMLButtonElement): () => void {
  return () => {
    if (document.activeElement === button) document.getElementById('main')?.focus({ preventScroll: true })
  }
}

interface FailureProps {
  readonly title: string
  readonly message: string
  readonly onRetry: () => void
  readonly isReloadOffered?: boolean
  readonly onClose?: (event: MouseEvent) => void
}

export function Failure({ title, message, onRetry, isReloadOffered = false, onClose }: FailureProps): ReactNode {
  return (
    <section className="card failure" role="alert">
      <h2>
        <TriangleAlert size={18} aria-hidden="true" /> {title}
      </h2>
      <p>{message}</p>
      <div className="buttons">
        <button ref={passFocusOn} type="button" className="primary" onClick={onRetry}>
          <RotateCw size={15} aria-hidden="true" /> Try again
        </button>
        {isReloadOffered && (
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        )}
        {onClose && (
          <button type="button" onClick={onClose}>
            Close
          </button>
        )}
      </div>
    </section>
  )
}
