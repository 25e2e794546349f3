// The frame around every page: where one is, who one is, light or dark, and whether the gateway answers.
import { Menu, Search, X } from 'lucide-react'
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { ThemeState } from '../design/theme.ts'
import { AccountMenu } from '../sign-in/account-menu.tsx'
import { lazyPart } from './lazy-part.tsx'
import { Link } from './navigation/link.tsx'
import { SteadyLabel } from './navigation/steady-label.tsx'
import { OfflineBanner } from './offline-banner.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { useExplorer, usePlace, useSessionState } from './use-explorer.ts'
import './frame.css'

const Palette = lazyPart(async () => (await import('./palette.tsx')).Palette)

interface FrameProps {
  readonly pages: readonly { readonly path: string; readonly label: string }[]
  readonly path: string
  readonly theme: ThemeState
  readonly children: ReactNode
}

/** Not by the address: it holds a page's state, and a link that leaves that out would load the page anew. */
function skip(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

/** What had the focus may have gone with the page before, or the person: the keyboard goes on in what is there now. */
function useFocusInPage(): void {
  const { visit } = usePlace()
  const { phase, email } = useSessionState()
  const before = useRef<string | null>(null)
  useEffect(() => {
    // Of a page that is only being loaded nothing had it.
    if (visit === 0 && phase === 'starting') return
    const now = JSON.stringify([visit, phase, email])
    const isFirst = visit === 0 && before.current === null
    if (!isFirst && before.current !== now && isFocusLost()) {
      document.getElementById('main')?.focus({ preventScroll: true })
    }
    before.current = now
  }, [visit, phase, email])
}

/** What was hidden has it for a moment more. */
function isFocusLost(): boolean {
  return document.activeElement === document.body || document.activeElement?.closest('[hidden]') !== null
}

/** Their keyboards have a Command key. */
function isApple(): boolean {
  return /^(?:Mac|iP)/.test(navigator.platform)
}

/** Control and K cuts a line where there is a Command key; with Shift it removes one in an editor, or opens Firefox's console. */
function isPaletteKey({ key, metaKey, ctrlKey, shiftKey, altKey }: KeyboardEvent): boolean {
  if (shiftKey || altKey) return false
  return key.toLowerCase() === 'k' && (metaKey || (ctrlKey && !isApple()))
}

export function Frame({ pages, path, theme, children }: FrameProps): ReactNode {
  const { facts, navigation } = useExplorer()
  const { phase, email } = useSessionState()
  const isSignedIn = phase === 'signed-in'
  const [isMenuOpen, setMenuOpen] = useState(false)
  /** Whose: it holds their names, and they may sign out, or be somebody else, in another tab. */
  const [paletteOf, setPaletteOf] = useState<string | null>(null)
  if (paletteOf !== null && (!isSignedIn || paletteOf !== email)) setPaletteOf(null)
  useFocusInPage()

  useEffect(() => {
    function open(event: KeyboardEvent): void {
      if (!isPaletteKey(event) || !isSignedIn) return
      event.preventDefault()
      event.stopPropagation()
      setPaletteOf((open) => (open === null ? email : null))
    }
    // Before GraphiQL, whose search of its documentation takes the focus with the same key.
    addEventListener('keydown', open, { capture: true })
    return () => removeEventListener('keydown', open, { capture: true })
  }, [isSignedIn, email])

  return (
    <>
      <a className="skip" href={`${facts.basePath}${path}#main`} onClick={skip}>
        Skip to content
      </a>
      <header className="frame">
        <button
          type="button"
          className="icon menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="pages"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          {isMenuOpen ? <X size={18} aria-hidden="true" /> : <Menu size={18} aria-hidden="true" />}
          <span className="unseen">Menu</span>
        </button>
        <Link to="/" className="brand">
          <span className="mark" aria-hidden="true" />
          <span className="brand-name">Workspace Gateway</span>
        </Link>
        <nav id="pages" aria-label="Pages" data-open={isMenuOpen}>
          {pages.map((row) => (
            <Link
              key={row.path}
              to={navigation.lastOf(row.path)}
              isCurrent={row.path === path}
              onFollow={() => setMenuOpen(false)}
            >
              <SteadyLabel text={row.label} />
            </Link>
          ))}
        </nav>
        <div className="tools">
          {isSignedIn && (
            <button type="button" className="quiet palette-button" onClick={() => setPaletteOf(email)}>
              <Search size={15} aria-hidden="true" />
              <span className="palette-label">Go to …</span>
              <span className="kbd" aria-hidden="true">
                {isApple() ? '⌘K' : 'Ctrl K'}
              </span>
            </button>
          )}
          <ThemeSwitch {...theme} />
          {/* Of each person their own: what was open or typed goes with who did it. */}
          <AccountMenu key={email ?? ''} />
        </div>
      </header>
      <OfflineBanner />
      <main id="main" tabIndex={-1} className={path === '/graphql' ? 'full' : undefined}>
        {children}
      </main>
      {paletteOf !== null && <Palette onClose={() => setPaletteOf(null)} />}
    </>
  )
}
