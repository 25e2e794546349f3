// Sign-in codes as people read and type them: 40 bits in eight letters of Crockford's base32.

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
  /** Without the tag; canonical, since the tagged one was. */
  readonly email: string
  readonly code: string
}

/** The code inside a canonical address, for clients with one field: `ana+code-K7QM2P9D@example.com`. Null without one. */
export function readTaggedAddress(email: string): TaggedAddress | null {
  const domainAt = email.lastIndexOf('@')
  const tagAt = email.lastIndexOf(TAG, domainAt)
  if (tagAt < 1 || domainAt < tagAt) return null
  const code = readCode(email.slice(tagAt + TAG.length, domainAt))
  return code === null ? null : { email: email.slice(0, tagAt) + email.slice(domainAt), code }
}

/** The address without whatever stands where a code would, code or not: for a log, which must not hold one. */
export function withoutCode(email: string): string {
  const domainAt = email.lastIndexOf('@')
  const tagAt = email.toLowerCase().indexOf(TAG)
  return tagAt === -1 || domainAt < tagAt ? email : email.slice(0, tagAt) + email.slice(domainAt)
}
