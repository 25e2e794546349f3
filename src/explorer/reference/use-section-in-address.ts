// Writes the id of the section being read into the fragment of the address.
import { useEffect } from 'react'
import { useExplorer } from '../frame/use-explorer.ts'

const PAGE = '/docs'
/** Distance from the top of the window, in pixels, at which a linked section begins: just below the frame. */
const READ_AT = 80

export function useSectionInAddress(): void {
  const { navigation } = useExplorer()
  useEffect(() => {
    function note(): void {
      // The person may have opened another page meanwhile.
      if (navigation.place().path !== PAGE || isAtEndWithNamed()) return
      const sections = [...document.querySelectorAll<HTMLElement>('.operations > section[id]')]
      const read = sections.findLast((section) => section.getBoundingClientRect().top <= READ_AT)
      navigation.replaceSoon(read ? `${PAGE}#${read.id}` : PAGE)
    }
    addEventListener('scroll', note, { passive: true })
    return () => removeEventListener('scroll', note)
  }, [navigation])
}

/**
 * Whether the page is scrolled to its end while the linked section is visible. The last sections cannot scroll to the
 * top, so the address keeps the linked one.
 */
function isAtEndWithNamed(): boolean {
  if (scrollY + innerHeight < document.documentElement.scrollHeight - 2) return false
  const named = document.getElementById(location.hash.slice(1))?.getBoundingClientRect()
  return named !== undefined && named.top >= 0 && named.top < innerHeight
}
