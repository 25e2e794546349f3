// Builds and reads the shareable addresses of the workspace pages.
import { useCallback, useState } from 'react'
import { useExplorer, usePlace } from '../frame/use-explorer.ts'
import type { Kind } from './items.ts'

export const PROJECT_TABS = ['overview', 'files', 'document', 'exports'] as const
export type ProjectTab = (typeof PROJECT_TABS)[number]

export interface Place {
  readonly kind: Kind
  /** The reference of a project, or the id of another document. */
  readonly opened?: string
  readonly tab?: ProjectTab
  /** The key of an export, as `exportKey` makes it. */
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
 * Returns the query parameters of the address, and two functions that change them without a new visit; null removes a
 * parameter. Values of `writeSoon` do not appear in `parameters`: they hold the scroll position, for the next visit.
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
