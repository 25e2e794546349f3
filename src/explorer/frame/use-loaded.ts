// Loads a value when a component mounts, and retries a failed load when the gateway is reachable again.
import { useEffect, useState } from 'react'
import { failureText } from './connection.ts'
import { useConnection } from './use-explorer.ts'

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
  return loaded
}
