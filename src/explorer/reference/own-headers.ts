// The custom request headers of the reference: decides which are sent and why one is refused.
import type { OwnHeaders } from '../snippets/call.ts'

export interface HeaderField {
  readonly id: number
  readonly name: string
  readonly value: string
}

/** The edited inputs of one "Try it" form. */
export interface Draft {
  /** Value of the query parameter or the body field; null until the person edits it. */
  readonly value: string | null
  readonly headers: readonly HeaderField[]
}

export const NO_DRAFT: Draft = { value: null, headers: [] }

/** Everything that the person typed into the reference page. */
export interface WrittenReference {
  /** The search text. */
  readonly words: string
  /** Keyed by operation id. */
  readonly drafts: ReadonlyMap<string, Draft>
}

/** Combines headers of the same name into one with all values, as HTTP allows (RFC 9110, section 5.3). */
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

/** Returns null for a header that is sent or still empty. The browser itself decides, because its rules apply. */
export function faultOf({ name, value }: HeaderField): string | null {
  if (name === '') return value === '' ? null : 'Give this header a name.'
  const refusal = refusalOf(name, value)
  if (refusal !== null) return `${refusal} This one is not sent.`
  if (!new Request(location.href, { headers: [[name, value]] }).headers.has(name)) {
    return `Browsers set ${name} themselves and let no page do it. This one is not sent: try it with curl.`
  }
  return null
}

/** Explains why a browser refuses to send this header; null when it accepts the header. */
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
