// The canonical spelling of emails.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalEmail } from '../src/auth/email.ts'
import { BAD_EMAILS, GOOD_EMAILS } from './support/emails.ts'

describe('canonicalEmail has one spelling for', () => {
  test.each(GOOD_EMAILS)('%j: %j', (written, canonical) => {
    expect(canonicalEmail(written)).toBe(canonical)
    expect(canonicalEmail(canonical)).toBe(canonical)
  })
})

describe('canonicalEmail refuses', () => {
  test.each(BAD_EMAILS)('%s', (_why, email) => {
    expect(canonicalEmail(email)).toBeNull()
  })
})

describe('canonicalEmail, whatever it is given,', () => {
  const RUNS = { numRuns: 2_000 }

  /** Mostly not emails, but close: parts that could be taken for an address, combined in every way. */
  const almostEmail = fc
    .tuple(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.stringMatching(/^[A-Za-z0-9.+'_-]{0,70}$/)),
      fc.constantFrom('@', '＠', '﹫', ' @', '@@', ''),
      fc.array(
        fc.oneof(
          fc.domain(),
          fc.string({ unit: 'grapheme', maxLength: 8 }),
          fc.string({ unit: 'binary', maxLength: 4 }),
          fc.stringMatching(/^xn--[a-z0-9-]{0,12}$/),
          fc.stringMatching(/^[A-Za-z0-9-]{1,70}$/),
        ),
        { minLength: 1, maxLength: 5 },
      ),
      fc.constantFrom('.', '。', '．', '｡', '..'),
    )
    .map(([localPart, at, labels, dot]) => `${localPart}${at}${labels.join(dot)}`)

  const anyText = fc.oneof(
    almostEmail,
    fc.emailAddress(),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    // Lone surrogates, which no other arbitrary makes.
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  )

  test('never throws: returns the canonical form, or null', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const canonical = canonicalEmail(text)
        if (canonical === null) return
        // Printable ASCII: no white space, no control characters.
        expect(canonical).toMatch(/^[!-~]+@[a-z0-9.-]+$/)
        expect(canonical).not.toMatch(/[A-Z]/)
        expect(canonical.length).toBeLessThanOrEqual(254)
        expect(canonical.indexOf('@')).toBeLessThanOrEqual(64)
      }),
      RUNS,
    )
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const canonical = canonicalEmail(text)
        if (canonical !== null) expect(canonicalEmail(canonical)).toBe(canonical)
      }),
      RUNS,
    )
  })

  test('recognizes an ASCII address in any case, with any white space around it', () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.constantFrom('', ' ', '\t', '\r\n', '\u00a0'), (email, space) => {
        const canonical = canonicalEmail(email)
        expect(canonicalEmail(`${space}${email.toUpperCase()}${space}`)).toBe(canonical)
        expect(canonicalEmail(email.toLowerCase())).toBe(canonical)
      }),
      RUNS,
    )
  })

  test('accepts the addresses that an operator would write', () => {
    const localPart = fc.stringMatching(/^[a-z0-9]{1,20}(?:[.+_-][a-z0-9]{1,20}){0,2}$/)
    const domain = fc.stringMatching(/^(?:[a-z0-9]{1,20}\.){1,3}[a-z]{2,10}$/)
    fc.assert(
      fc.property(localPart, domain, (local, host) => {
        fc.pre(local.length <= 64 && !host.startsWith('xn--') && !host.includes('.xn--'))
        expect(canonicalEmail(`${local}@${host}`)).toBe(`${local}@${host}`)
      }),
      RUNS,
    )
  })
})
