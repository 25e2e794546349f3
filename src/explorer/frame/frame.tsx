// The frame around every page: navigation, palette, theme switch, account menu and offline banner.
import { Menu, Search, X } from 'lucide-react'
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { ThemeState } from '../design/theme.ts'
import { AccountMenu } from '../sign-in/account-menu.tsx'
import { lazyPart } from './lazy-part.tsx'
import { Link } from './navigation/link.tsx'
import { SteadyLabel } from './navigation/steady-label.tsx'
import { OfflineBanner } from './offline-banner.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { useDismissal } from './use-dismissal.ts'
import { useExplorer, usePlace, useSessionState } from './use-explorer.ts'
import './frame.css'

const Palette = lazyPart(
  async () => (await import('./palette.tsx')).Palette,
  ({ onClose }) => onClose,
)

interface FrameProps {
  readonly pages: readonly { readonly path: string; readonly label: string }[]
  readonly path: string
  readonly theme: ThemeState
  readonly children: ReactNode
}

/** Moves the focus without changing the address: `#main` would drop the page's state from it and reload the page. */
function skip(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

/** Moves the focus to the main element when the focused element disappeared with the previous page or user. */
function useFocusInPage(): void {
  const { visit } = usePlace()
  const { phase, email } = useSessionState()
  const before = useRef<string | null>(null)
  useEffect(() => {
    // While the first page is still loading, nothing had the focus yet.
    if (visit === 0 && phase === 'starting') return
    const now = JSON.stringify([visit, phase, email])
    const isFirst = visit === 0 && before.current === null
    if (!isFirst && before.current !== now && isFocusLost()) {
      document.getElementById('main')?.focus({ preventScroll: true })
    }
    before.current = now
  }, [visit, phase, email])
}

/** A hidden element keeps the focus for a moment, so it counts as lost too. */
function isFocusLost(): boolean {
  return document.activeElement === document.body || document.activeElement?.closest('[hidden]') !== null
}

/** Whether the keyboard has a Command key. */
function isApple(): boolean {
  return /^(?:Mac|iP)/.test(navigator.platform)
}

/**
 * Command+K, or Ctrl+K except on Apple devices, where Ctrl+K cuts a line. Shift is excluded: with it the keys delete a
 * line in an editor or open Firefox's console.
 */
function isPaletteKey({ key, metaKey, ctrlKey, shiftKey, altKey }: KeyboardEvent): boolean {
  if (shiftKey || altKey) return false
  return key.toLowerCase() === 'k' && (metaKey || (ctrlKey && !isApple()))
}

export function Frame({ pages, path, theme, children }: FrameProps): ReactNode {
  const { facts, navigation } = useExplorer()
  const { phase, email } = useSessionState()
  const isSignedIn = phase === 'signed-in'
  const [isMenuOpen, setMenuOpen] = useState(false)
  const menuButton = useRef<HTMLButtonElement>(null)
  useDismissal(isMenuOpen, setMenuOpen, '.menu-button, #pages', menuButton)
  /**
   * Email of the user for whom the palette is open. It lists that user's names, so it closes when another tab signs out
   * or signs in as somebody else.
   */
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
    // Capture phase, to run before GraphiQL, whose documentation search takes the focus with the same key.
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
          ref={menuButton}
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
              // From another page it leads to where the person was; on its own page, to that page's start.
              to={row.path === path ? row.path : navigation.lastOf(row.path)}
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
          {/* Keyed by user, so that an open menu and typed text do not carry over to the next user. */}
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
