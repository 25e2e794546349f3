// Canonicalizes email addresses, above the store, so that each has exactly one spelling.
import { domainToASCII } from 'node:url'

const MAX_EMAIL_LENGTH = 254
const MAX_LOCAL_PART_LENGTH = 64
/** RFC 5322 section 3.2.3, dot-atom; no quoted local parts. */
const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
/** At least two labels (RFC 1123 section 2.1). The last is not a number, so an IP address is not a domain. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Domains that the ASCII conversion leaves unchanged, except those with `xn--` labels. */
const PLAIN_DOMAIN = /^[a-z0-9.-]+$/
/** Characters that the ASCII conversion of a domain would interpret rather than convert. */
const DOMAIN_INPUT = /^[a-z0-9.\-\u0080-\u{10ffff}]+$/iu

/** The input in NFKC and trimmed, which may be longer than before; null if it is too long to be an email address. */
export function normalizedEmail(input: string): string | null {
  return input.length > MAX_EMAIL_LENGTH * 4 ? null : input.normalize('NFKC').trim()
}

/** The normalized address with its domain in ASCII (UTS 46), in lower case; null if it is not an email address. */
export function canonicalEmail(input: string): string | null {
  const normalized = normalizedEmail(input)
  if (normalized === null) return null
  const at = normalized.lastIndexOf('@')
  if (at < 1) return null
  const localPart = normalized.slice(0, at).toLowerCase()
  const domain = asciiDomain(normalized.slice(at + 1))
  if (localPart.length > MAX_LOCAL_PART_LENGTH || !LOCAL_PART.test(localPart) || !DOMAIN.test(domain)) return null
  const email = `${localPart}@${domain}`
  return email.length <= MAX_EMAIL_LENGTH ? email : null
}

/** ASCII without control characters. */
const PLAIN_TEXT = /^[\x20-\x7e]+$/

/**
 * The canonical address of a user for whom another system vouches. Null if the part before the `@` is not ASCII: NFKC
 * would make the mailbox of one person (`ªna@`) the mailbox of another (`ana@`).
 */
export function vouchedEmail(claimed: string): string | null {
  return PLAIN_TEXT.test(claimed.slice(0, Math.max(0, claimed.lastIndexOf('@')))) ? canonicalEmail(claimed) : null
}

function asciiDomain(domain: string): string {
  if (!DOMAIN_INPUT.test(domain)) return ''
  const lower = domain.toLowerCase()
  return PLAIN_DOMAIN.test(lower) && !lower.includes('xn--') ? lower : domainToASCII(lower)
}
