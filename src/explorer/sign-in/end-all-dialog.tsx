// The confirmation dialog for ending all sessions of the user, including the current one.
import type { ReactNode } from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'

interface EndAllDialogProps {
  readonly onEnd: () => void
  readonly onClose: () => void
}

export function EndAllDialog({ onEnd, onClose }: EndAllDialogProps): ReactNode {
  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={(isOpen) => isOpen || onClose()}>
      <Modal className="dialog">
        <Dialog role="alertdialog">
          <Heading slot="title" level={2}>
            End all sessions?
          </Heading>
          <p>Whoever is signed in with this email has to sign in again, in this browser too.</p>
          <div className="buttons">
            <button type="button" className="primary" onClick={onEnd}>
              End all sessions
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
