// The headers that a person adds to a try-out: which of them are sent, and why one is not.
import type { OwnHeaders } from '../snippets/call.ts'

export interface HeaderField {
  readonly id: number
  readonly name: string
  readonly value: string
}

/** What a person has changed of a try-out. */
export interface Draft {
  /** Of the parameter or the body's field; null until it is edited. */
  readonly value: string | null
  readonly headers: readonly HeaderField[]
}

export const NO_DRAFT: Draft = { value: null, headers: [] }

/** What a person has written into the page. */
export interface WrittenReference {
  /** What is searched for. */
  readonly words: string
  /** By operations. */
  readonly drafts: ReadonlyMap<string, Draft>
}

/** A name that is written twice is sent once, with both values, as HTTP allows (RFC 9110, section 5.3). */
export function sentHeaders(fields: readonly HeaderField[]): OwnHeaders {
  const sent = new Map<string, readonly [name: string, value: string]>()
  for (const field of fields) {
    if (field.name === '' || faultOf(field) !== null) continue
    const key = field.name.toLowerCase()
    const [name, value] = sent.get(key) ?? [field.name, null]
    sent.set(key, [name, value === null ? field.value.trim() : `${value}, ${field.value.trim()}`])
  }
  return [...sent.values()]
}

/** Null for one that is sent, and for one that is not yet written. The browser judges: its rules are the ones that count. */
export function faultOf({ name, value }: HeaderField): string | null {
  if (name === '') return value === '' ? null : 'Give this header a name.'
  const refusal = refusalOf(name, value)
  if (refusal !== null) return `${refusal} This one is not sent.`
  if (!new Request(location.href, { headers: [[name, value]] }).headers.has(name)) {
    return `Browsers set ${name} themselves and let no page do it. This one is not sent: try it with curl.`
  }
  return null
}

/** Why a browser makes no request with this header; null when it does. */
export function refusalOf(name: string, value: string): string | null {
  if (!isAccepted(name, '')) return 'A name is made of letters, digits and hyphens, without spaces.'
  if (!isAccepted(name, value)) return 'A header cannot hold a line break, or a letter beyond Latin-1.'
  return null
}

function isAccepted(name: string, value: string): boolean {
  try {
    new Headers([[name, value]])
    return true
  } catch {
    return false
  }
}
