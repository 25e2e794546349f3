// Light or dark: the system's choice until the person makes one.
import { useEffect, useState, useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark'

const KEY = 'workspace-gateway:theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

function chosenTheme(): Theme | null {
  const chosen = localStorage.getItem(KEY)
  return chosen === 'light' || chosen === 'dark' ? chosen : null
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const isSystemDark = useSyncExternalStore(
    (listener) => {
      systemIsDark.addEventListener('change', listener)
      return () => systemIsDark.removeEventListener('change', listener)
    },
    () => systemIsDark.matches,
  )
  const [chosen, setChosen] = useState(chosenTheme)
  const theme = chosen ?? (isSystemDark ? 'dark' : 'light')
  useEffect(() => {
    document.documentElement.dataset.theme = theme
  }, [theme])
  function choose(next: Theme): void {
    localStorage.setItem(KEY, next)
    setChosen(next)
  }
  return [theme, choose]
}
