// Tells whether the page is being printed, when virtualized content must be rendered in full.
import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'

export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(() => matchMedia('print').matches)
  useEffect(() => {
    const query = matchMedia('print')
    // Synchronous: the browser captures the page as soon as these listeners return.
    const note = (isNow: boolean) => flushSync(() => setPrinting(isNow))
    const begin = () => note(true)
    const end = () => note(false)
    const follow = ({ matches }: MediaQueryListEvent) => note(matches)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    query.addEventListener('change', follow)
    // Printing may have started between the render and this effect.
    setPrinting(query.matches)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
      query.removeEventListener('change', follow)
    }
  }, [])
  return isPrinting
}
