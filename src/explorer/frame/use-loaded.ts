// Something that is loaded when a component appears, and again once the gateway is back after a failure.
import { useEffect, useState } from 'react'
import { failureText } from './connection.ts'
import { useConnection } from './use-explorer.ts'

export type Loaded<T> =
  | { readonly phase: 'loading' }
  | { readonly phase: 'failed'; readonly message: string; readonly retry: () => void }
  | { readonly phase: 'ready'; readonly value: T }

/** `load` must stay the same function for as long as its result counts. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const { timesBack } = useConnection()
  const [attempt, setAttempt] = useState(0)
  const [loaded, setLoaded] = useState<Loaded<T>>({ phase: 'loading' })
  const [settledFor, setSettledFor] = useState<(() => Promise<T>) | null>(null)
  // What was loaded stays when the gateway was away for a while.
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
