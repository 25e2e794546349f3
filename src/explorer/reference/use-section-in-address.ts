// Which section of the reference a person reads: its name stands behind the `#` of the address.
import { useEffect } from 'react'
import { useExplorer } from '../frame/use-explorer.ts'

const PAGE = '/docs'
/** Under the frame, where a section begins that a link leads to. In pixels from the top of the window. */
const READ_AT = 80

export function useSectionInAddress(): void {
  const { navigation } = useExplorer()
  useEffect(() => {
    function note(): void {
      // Another page may have been opened since.
      if (navigation.place().path !== PAGE || isAtEndWithNamed()) return
      const sections = [...document.querySelectorAll<HTMLElement>('.operations > section[id]')]
      const read = sections.findLast((section) => section.getBoundingClientRect().top <= READ_AT)
      navigation.replaceSoon(read ? `${PAGE}#${read.id}` : PAGE)
    }
    addEventListener('scroll', note, { passive: true })
    return () => removeEventListener('scroll', note)
  }, [navigation])
}

/** The last sections never come to the top: one that a link led to keeps its name. */
function isAtEndWithNamed(): boolean {
  if (scrollY + innerHeight < document.documentElement.scrollHeight - 2) return false
  const named = document.getElementById(location.hash.slice(1))?.getBoundingClientRect()
  return named !== undefined && named.top >= 0 && named.top < innerHeight
}
