// Where the parts of a workspace are: addresses that can be kept and shared.
import { useState } from 'react'
import { useExplorer, usePlace } from '../frame/use-explorer.ts'
import type { Kind } from './items.ts'

export const PROJECT_TABS = ['overview', 'files', 'document', 'exports'] as const
export type ProjectTab = (typeof PROJECT_TABS)[number]

export interface Place {
  readonly kind: Kind
  /** The reference of a project, the id of another document. */
  readonly opened?: string
  readonly tab?: ProjectTab
  /** The beginning of an export's digest. */
  readonly export?: string
  readonly with?: string
}

export function addressOf({ kind, opened, tab, export: shownExport, with: other }: Place): string {
  const written = new URLSearchParams({ show: kind })
  const parts = { open: opened, tab, export: shownExport, with: other }
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) written.set(name, value)
  return `/workspace?${written}`
}

type Changes = Readonly<Record<string, string | null>>

/** What the address says, and a way to write into it without visiting another place; null takes a name out. */
export function useAddressParameters(): readonly [URLSearchParams, (changes: Changes) => void] {
  const { navigation } = useExplorer()
  const { path, search, visit } = usePlace()
  const [written, setWritten] = useState({ visit, search })
  const now = written.visit === visit ? written.search : search
  function write(changes: Changes): void {
    const parameters = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') parameters.delete(name)
      else parameters.set(name, value)
    }
    navigation.replace(`${path}?${parameters}`)
    setWritten({ visit, search: `?${parameters}` })
  }
  return [new URLSearchParams(now), write]
}
