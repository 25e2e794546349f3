// A component whose code is loaded when it is first shown; the load is retried when the gateway is reachable again.
import { type ReactNode, useCallback } from 'react'
import { Failure } from '../design/failure.tsx'
import { Skeleton } from '../design/skeleton.tsx'
import { useConnection, useExplorer } from './use-explorer.ts'
import { useLoaded } from './use-loaded.ts'
import { withStyles } from './with-styles.ts'

type Part<P> = (props: P) => ReactNode

/**
 * `load` imports the module. A browser reports a failed import only as a TypeError, so a failure probes the connection.
 */
export function lazyPart<P extends object>(load: () => Promise<Part<P>>): Part<P> {
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
    return isUp ? (
      <Failure
        title="This page could not be loaded"
        message="The gateway answers, but not with this part of its pages: they may have been replaced by a newer version."
        onRetry={loaded.retry}
        isReloadOffered
      />
    ) : (
      <Failure
        title="The gateway does not answer"
        message="This page is loaded as soon as it is back."
        onRetry={loaded.retry}
      />
    )
  }
}
