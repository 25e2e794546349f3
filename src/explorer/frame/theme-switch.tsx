// The theme switch: radio buttons with icons for system, light and dark.
import { Monitor, Moon, Sun } from 'lucide-react'
import type { ReactNode } from 'react'
import { CHOICES, type ThemeState } from '../design/theme.ts'

const ICONS = { system: Monitor, light: Sun, dark: Moon }
const LABELS = { system: 'System theme', light: 'Light theme', dark: 'Dark theme' }

export function ThemeSwitch({ choice, choose }: ThemeState): ReactNode {
  return (
    <fieldset className="segments theme-switch">
      <legend className="unseen">Theme</legend>
      {CHOICES.map((name) => {
        const Icon = ICONS[name]
        return (
          <label key={name} title={LABELS[name]}>
            <input type="radio" name="theme" checked={choice === name} onChange={() => choose(name)} />
            <Icon size={15} aria-hidden="true" />
            <span className="unseen">{LABELS[name]}</span>
          </label>
        )
      })}
    </fieldset>
  )
}
