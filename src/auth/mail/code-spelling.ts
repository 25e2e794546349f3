// Sign-in codes as people read and type them: 40 bits in eight letters of Crockford's base32.
import { canonicalEmail, normalizedEmail } from '../email.ts'

export const CODE_LENGTH = 8
export const CODE_BYTES = 5

/** Without I, L, O and U: https://www.crockford.com/base32.html */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const BITS_PER_LETTER = 5n
/** What people type instead. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' }
const SEPARATORS = /[\s-]/g
/** Stands between the address and the code, before the `@`. */
const TAG = '+code-'

/** The code that these bits spell. */
export function spellCode(bits: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bits.subarray(0, CODE_BYTES)).toString('hex')}`)
  let code = ''
  for (let letter = 0; letter < CODE_LENGTH; letter += 1) {
    code = (ALPHABET[Number(rest & 31n)] ?? '') + code
    rest >>= BITS_PER_LETTER
  }
  return code
}

/** The one spelling of a code as it was typed, with its case, look-alikes, spaces and hyphens undone. Null for what is no code. */
export function readCode(typed: string): string | null {
  if (typed.length > 4 * CODE_LENGTH) return null
  const letters = typed.replace(SEPARATORS, '').toUpperCase()
  const code = [...letters].map((letter) => LOOK_ALIKES[letter] ?? letter).join('')
  return code.length === CODE_LENGTH && [...code].every((letter) => ALPHABET.includes(letter)) ? code : null
}

export interface TaggedAddress {
  /** Without the tag; canonical. */
  readonly email: string
  readonly code: string
}

/**
 * The code inside an address as it was sent, for clients with one field: `ana+code-K7QM2P9D@example.com`. With it the address may
 * be longer than an address can be. Null without one.
 */
export function readTaggedAddress(sent: string): TaggedAddress | null {
  const whole = inLowerCase(sent)
  const parts = splitAt(whole, whole.lastIndexOf(TAG))
  const email = parts && canonicalEmail(parts.address)
  const code = parts && readCode(parts.tag)
  return email && code ? { email, code } : null
}

/** Canonical, and without whatever stands where a code would, code or not: for a log, which must not hold one. Null for no email. */
export function emailWithoutCode(sent: string): string | null {
  const whole = inLowerCase(sent)
  return canonicalEmail(splitAt(whole, whole.indexOf(TAG))?.address ?? whole)
}

/** As canonical addresses are. A letter may be longer then, so what is found in it is cut out of it. */
function inLowerCase(sent: string): string {
  return (normalizedEmail(sent) ?? '').toLowerCase()
}

function splitAt(whole: string, tagAt: number): { readonly address: string; readonly tag: string } | null {
  const domainAt = whole.lastIndexOf('@')
  if (tagAt < 0 || domainAt < tagAt) return null
  return { address: whole.slice(0, tagAt) + whole.slice(domainAt), tag: whole.slice(tagAt + TAG.length, domainAt) }
}
