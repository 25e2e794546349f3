// Loads a value when a component mounts, retries a failed load when the gateway is reachable again, and reads values
// again that another program may have changed since.
import { useEffect, useState } from 'react'
import { failureText } from './connection.ts'
import { useConnection, usePlace } from './use-explorer.ts'

export type Loaded<T> =
  | { readonly phase: 'loading' }
  | { readonly phase: 'failed'; readonly message: string; readonly retry: () => void }
  | { readonly phase: 'ready'; readonly value: T }

/** `load` must keep its identity while its result is valid: a new function starts a new load. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const { timesBack } = useConnection()
  const [attempt, setAttempt] = useState(0)
  const [loaded, setLoaded] = useState<Loaded<T>>({ phase: 'loading' })
  const [settledFor, setSettledFor] = useState<(() => Promise<T>) | null>(null)
  // A loaded value survives an outage of the gateway.
  const again = loaded.phase === 'ready' && settledFor === load ? -1 : timesBack + attempt
  useEffect(() => {
    if (again === -1) return
    let isGone = false
    setLoaded({ phase: 'loading' })
    load().then(
      (value) => {
        if (isGone) return
        setSettledFor(() => load)
        setLoaded({ phase: 'ready', value })
      },
      (error: unknown) => {
        const retry = () => setAttempt((count) => count + 1)
        if (!isGone) setLoaded({ phase: 'failed', message: failureText(error), retry })
      },
    )
    return () => {
      isGone = true
    }
  }, [load, again])
  // The value of the load before is not shown, not even until the effect has started the new one.
  return again !== -1 && loaded.phase === 'ready' ? LOADING : loaded
}

const LOADING = { phase: 'loading' } as const

/**
 * How a new visit uses the value that was read for an earlier one. `current`: it is not read again. `meanwhile`: it is
 * shown while it is read again, and while the gateway cannot be reached. `outdated`: it is not shown.
 */
export type Use = 'current' | 'meanwhile' | 'outdated'

/** Like `useLoaded`, but also loads on a new visit. A value that is read again unchanged keeps its identity. */
export function useLoadedPerVisit<T>(load: () => Promise<T>, judge: (last: T) => Use): Loaded<T> {
  const { visit } = usePlace()
  const { isUp } = useConnection()
  const [read, setRead] = useState({ visit, load })
  const loaded = useLoaded(read.load)
  /** `from` is what was loaded last, so that it is compared only once: a list may be long. */
  const [{ from, last }, setLast] = useState({ from: loaded, last: loaded })
  if (loaded.phase === 'ready' && loaded !== from) {
    setLast({ from: loaded, last: JSON.stringify(loaded) === JSON.stringify(last) ? last : loaded })
  }
  const use = last.phase === 'ready' ? judge(last.value) : 'outdated'
  if (read.visit !== visit) setRead({ visit, load: use === 'current' ? read.load : () => load() })
  const isLast = use === 'current' || (use === 'meanwhile' && (loaded.phase !== 'failed' || !isUp))
  return isLast || loaded.phase === 'ready' ? last : loaded
}
