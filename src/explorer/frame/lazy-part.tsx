// A component whose code is loaded when it is first shown; the load is retried when the gateway is reachable again.
import { type MouseEvent, type ReactNode, useCallback } from 'react'
import { Failure } from '../design/failure.tsx'
import { Skeleton } from '../design/skeleton.tsx'
import { useConnection, useExplorer } from './use-explorer.ts'
import { useLoaded } from './use-loaded.ts'
import { withStyles } from './with-styles.ts'

type Part<P> = (props: P) => ReactNode

/**
 * `load` imports the module. A browser reports a failed import only as a TypeError, so a failure probes the connection.
 * `closeOf` is for a modal window: how its user closes it.
 */
export function lazyPart<P extends object>(
  load: () => Promise<Part<P>>,
  closeOf: (props: P) => (() => void) | undefined = () => undefined,
): Part<P> {
  // Cached, so that the component renders immediately the next time.
  let loadedPart: Part<P> | null = null
  const loadWhole = withStyles(load)
  return function LazyPart(props: P): ReactNode {
    const { connection } = useExplorer()
    const { isUp } = useConnection()
    const loaded = useLoaded(
      useCallback(async () => {
        if (loadedPart) return { Part: loadedPart }
        try {
          loadedPart = await connection.watch(loadWhole())
          return { Part: loadedPart }
        } catch (error) {
          await connection.probe()
          throw error
        }
      }, [connection]),
    )
    const Part = loadedPart ?? (loaded.phase === 'ready' ? loaded.value.Part : null)
    if (Part) return <Part {...props} />
    if (loaded.phase !== 'failed') return <Skeleton label="Loading" />
    const onClose = closeOf(props)
    const [title, message] = isUp
      ? [
          `This ${onClose ? 'part' : 'page'} could not be loaded`,
          'The gateway answers, but not with this part of its pages: they may have been replaced by a newer version.',
        ]
      : ['The gateway does not answer', `This ${onClose ? 'part' : 'page'} is loaded as soon as it is back.`]
    const shown = { title, message, onRetry: loaded.retry, isReloadOffered: isUp }
    if (!onClose) return <Failure {...shown} />
    // A window is rendered after the page, where nobody would see its failure.
    return (
      <dialog className="unloaded" aria-label={title} ref={openModal} onClose={onClose}>
        <Failure {...shown} onClose={closeModal} />
      </dialog>
    )
  }
}

/** Also returns the focus to where it was. */
function closeModal({ currentTarget }: MouseEvent): void {
  currentTarget.closest('dialog')?.close()
}

function openModal(dialog: HTMLDialogElement | null): void {
  if (dialog?.open === false) dialog.showModal()
}
