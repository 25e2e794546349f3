// Where the parts of a workspace are: addresses that can be kept and shared.
import { useCallback, useState } from 'react'
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
  /** The path of a file. */
  readonly file?: string
}

export function addressOf({ kind, opened, tab, export: shownExport, with: other, file }: Place): string {
  const written = new URLSearchParams({ show: kind })
  const parts = { open: opened, tab, export: shownExport, with: other, file }
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) written.set(name, value)
  return `/workspace?${written}`
}

export type Changes = Readonly<Record<string, string | null>>
export type WriteAddress = (changes: Changes) => void

/**
 * What the address says, and ways to write into it without visiting another place; null takes a name out. What is written
 * soon is not given back: it is where a person looks, for the next visit.
 */
export function useAddressParameters(): readonly [
  parameters: URLSearchParams,
  write: WriteAddress,
  writeSoon: WriteAddress,
] {
  const { navigation } = useExplorer()
  const { search, visit } = usePlace()
  const [written, setWritten] = useState({ visit, search })
  const now = written.visit === visit ? written.search : search
  const write = useCallback(
    (changes: Changes) => {
      const to = changed(navigation.address(), changes)
      navigation.replace(to)
      setWritten({ visit, search: searchOf(to) })
    },
    [navigation, visit],
  )
  const writeSoon = useCallback(
    (changes: Changes) => navigation.replaceSoon(changed(navigation.address(), changes)),
    [navigation],
  )
  return [new URLSearchParams(now), write, writeSoon]
}

function changed(address: string, changes: Changes): string {
  const parameters = new URLSearchParams(searchOf(address))
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') parameters.delete(name)
    else parameters.set(name, value)
  }
  return `${new URL(address, location.origin).pathname}?${parameters}`
}

function searchOf(address: string): string {
  return new URL(address, location.origin).search
}
