// The colour theme: light, dark or the system's; the choice is stored in localStorage.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { browserStorage } from './browser-storage.ts'

export type Theme = 'light' | 'dark'
export const CHOICES = ['system', 'light', 'dark'] as const
export type ThemeChoice = (typeof CHOICES)[number]

const KEY = 'workspace-gateway:theme'
const KEPT = browserStorage(() => localStorage)
const SYSTEM_IS_DARK = '(prefers-color-scheme: dark)'

export interface ThemeState {
  readonly theme: Theme
  readonly choice: ThemeChoice
  readonly choose: (choice: ThemeChoice) => void
}

/** The theme to apply before the first component renders. */
export function currentTheme(): Theme {
  return themeOf(keptChoice(), matchMedia(SYSTEM_IS_DARK).matches)
}

export function useTheme(): ThemeState {
  const isSystemDark = useSyncExternalStore(
    (listener) => {
      const query = matchMedia(SYSTEM_IS_DARK)
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => matchMedia(SYSTEM_IS_DARK).matches,
  )
  const [choice, setChoice] = useState(keptChoice)
  const theme = themeOf(choice, isSystemDark)
  useEffect(() => {
    document.documentElement.dataset.theme = theme
  }, [theme])
  function choose(next: ThemeChoice): void {
    if (next === 'system') KEPT.removeItem(KEY)
    else KEPT.setItem(KEY, next)
    setChoice(next)
  }
  return { theme, choice, choose }
}

function keptChoice(): ThemeChoice {
  return CHOICES.find((name) => name === KEPT.getItem(KEY)) ?? 'system'
}

function themeOf(choice: ThemeChoice, isSystemDark: boolean): Theme {
  if (choice !== 'system') return choice
  return isSystemDark ? 'dark' : 'light'
}
