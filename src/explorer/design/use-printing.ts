// Whether the page is being put on paper: what is drawn only where it is in sight has to be there whole then.
import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'

export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(() => matchMedia('print').matches)
  useEffect(() => {
    const query = matchMedia('print')
    // At once: the browser takes its picture of the page as soon as these listeners return.
    const note = (isNow: boolean) => flushSync(() => setPrinting(isNow))
    const begin = () => note(true)
    const end = () => note(false)
    const follow = ({ matches }: MediaQueryListEvent) => note(matches)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    query.addEventListener('change', follow)
    // It may have begun since this was drawn.
    setPrinting(query.matches)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
      query.removeEventListener('change', follow)
    }
  }, [])
  return isPrinting
}
