// Where the parts of a workspace are: addresses that can be kept and shared.
import type { Kind } from './items.ts'

export function addressOf(kind: Kind, opened?: string): string {
  const written = new URLSearchParams({ show: kind, ...(opened === undefined ? {} : { open: opened }) })
  return `/workspace?${written}`
}
