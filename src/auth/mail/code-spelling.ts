// Spells and reads sign-in codes as people type them: 40 bits as eight letters of Crockford's base32.
import { canonicalEmail, normalizedEmail } from '../email.ts'

const CODE_LENGTH = 8
const CODE_BYTES = 5

/** Without I, L, O and U: https://www.crockford.com/base32.html */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const BITS_PER_LETTER = 5n
/** Letters that people type instead of digits that look like them. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' }
const SEPARATORS = /[\s-]/g
/** Separates the local part of an address from a code, before the `@`. */
const TAG = '+code-'

/** The code for the first 40 bits. */
export function spellCode(bits: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bits.subarray(0, CODE_BYTES)).toString('hex')}`)
  let code = ''
  for (let letter = 0; letter < CODE_LENGTH; letter += 1) {
    code = (ALPHABET[Number(rest & 31n)] ?? '') + code
    rest >>= BITS_PER_LETTER
  }
  return code
}

/**
 * The canonical spelling of a typed code: normalizes case, look-alikes, spaces and hyphens. Null if it is not a code.
 */
export function readCode(typed: string): string | null {
  if (typed.length > 4 * CODE_LENGTH) return null
  const letters = typed.replace(SEPARATORS, '').toUpperCase()
  const code = [...letters].map((letter) => LOOK_ALIKES[letter] ?? letter).join('')
  return code.length === CODE_LENGTH && [...code].every((letter) => ALPHABET.includes(letter)) ? code : null
}

export interface TaggedAddress {
  /** Canonical email without the tag. */
  readonly email: string
  readonly code: string
}

/**
 * Reads an address that contains a code, for clients with only an email field: `ana+code-K7QM2P9D@example.com`. With
 * the code, the address may be longer than an email address can be. Null without a code.
 */
export function readTaggedAddress(sent: string): TaggedAddress | null {
  const whole = inLowerCase(sent)
  const parts = splitAt(whole, whole.lastIndexOf(TAG))
  const email = parts && canonicalEmail(parts.address)
  const code = parts && readCode(parts.tag)
  return email && code ? { email, code } : null
}

/**
 * The canonical email without anything in the place of a code, whether it is a code or not. For logs, which must not
 * contain codes. Null if it is not an email.
 */
export function emailWithoutCode(sent: string): string | null {
  const whole = inLowerCase(sent)
  return canonicalEmail(splitAt(whole, whole.indexOf(TAG))?.address ?? whole)
}

/**
 * Lower case, as in canonical emails. Lower case may change the length of a text, so offsets are valid only in the
 * result.
 */
function inLowerCase(sent: string): string {
  return (normalizedEmail(sent) ?? '').toLowerCase()
}

function splitAt(whole: string, tagAt: number): { readonly address: string; readonly tag: string } | null {
  const domainAt = whole.lastIndexOf('@')
  if (tagAt < 0 || domainAt < tagAt) return null
  return { address: whole.slice(0, tagAt) + whole.slice(domainAt), tag: whole.slice(tagAt + TAG.length, domainAt) }
}
