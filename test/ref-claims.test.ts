import { expect, test } from 'vitest'
import { createRefClaims, type RefClaim } from '../src/interchange/ref-claims.ts'

const PROJECTS = 3_000

test.each([
  ['its own hash', {}],
  ['a hash that is the same for many', { hashOf: (email: string, ref: string) => (email.length + ref.length) * 7 }],
  ['a hash that is 0', { hashOf: () => 0 }],
])('a reference is claimed by who came first and by nobody else, with %s', (_, options) => {
  const claimed: RefClaim[] = []
  const claims = createRefClaims({ claimAt: ({ startOffset }) => claimed[startOffset] ?? fail(), ...options })
  const claim = (email: string, ref: string, id: string) =>
    claims.claim({ email, ref, id }, { startOffset: claimed.push({ email, ref, id }) - 1, endOffset: claimed.length })
  const all = Array.from({ length: PROJECTS }, (_, index) => [`u${index % 7}@example.com`, `r${index}`] as const)
  for (const [email, ref] of all) expect(claim(email, ref, `id of ${ref}`)).toBe(true)
  for (const [email, ref] of all.slice(0, 100)) {
    expect(claim(email, ref, `id of ${ref}`)).toBe(true)
    expect(claim(email, ref, 'another')).toBe(false)
    expect(claim(`another-${email}`, ref, 'another')).toBe(true)
  }
})

function fail(): never {
  throw new Error('nothing was claimed there')
}
