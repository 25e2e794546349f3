// Something that is loaded when a component appears.
import { useEffect, useState } from 'react'

export type Loaded<T> =
  | { readonly phase: 'loading' }
  | { readonly phase: 'failed'; readonly message: string }
  | { readonly phase: 'ready'; readonly value: T }

/** `load` must stay the same function for as long as its result counts. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ phase: 'loading' })
  useEffect(() => {
    let isGone = false
    setLoaded({ phase: 'loading' })
    load().then(
      (value) => isGone || setLoaded({ phase: 'ready', value }),
      (error: unknown) =>
        isGone || setLoaded({ phase: 'failed', message: error instanceof Error ? error.message : String(error) }),
    )
    return () => {
      isGone = true
    }
  }, [load])
  return loaded
}
