// Tests which project of an import claims a reference first, with and without hash collisions.
import { expect, test } from 'vitest'
import { createRefClaims, type RefClaim } from '../src/import-export/checks/unique-refs.ts'

const PROJECTS = 3_000

test.each([
  ['its own hash', {}],
  ['a hash that is the same for many', { hashOf: (email: string, ref: string) => (email.length + ref.length) * 7 }],
  ['a hash that is 0', { hashOf: () => 0 }],
])('a reference belongs to the first project that claims it and to no other, with %s', (_, options) => {
  const claimed: RefClaim[] = []
  const claims = createRefClaims({ readClaim: ({ startOffset }) => claimed[startOffset] ?? fail(), ...options })
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

test('a long line is not read again, however often its reference is claimed', () => {
  const claims = createRefClaims({ readClaim: fail })
  const first = { startOffset: 0, endOffset: 20_000_000 }
  const later = { startOffset: 20_000_000, endOffset: 40_000_000 }
  const claim = { email: 'ana@example.com', ref: 'r', id: 'a' }
  expect(claims.claim(claim, first)).toBe(true)
  expect(claims.claim(claim, later)).toBe(true)
  expect(claims.claim({ ...claim, id: 'b' }, later)).toBe(false)
  expect(claims.claim({ ...claim, ref: 's' }, later)).toBe(true)
})

test('a project in a short line keeps the reference that it took over from a removed one in a long line', () => {
  const claim = { email: 'ana@example.com', ref: 'r' }
  const [removed, taken] = [
    { startOffset: 0, endOffset: 20_000_000 },
    { startOffset: 20_000_000, endOffset: 20_000_100 },
  ]
  const claims = createRefClaims({
    readClaim: ({ startOffset }) => (startOffset === taken.startOffset ? { ...claim, id: 'b' } : fail()),
    isVoid: ({ id }) => id === 'a',
  })
  expect(claims.claim({ ...claim, id: 'a' }, removed)).toBe(true)
  expect(claims.claim({ ...claim, id: 'b' }, taken)).toBe(true)
  expect(claims.claim({ ...claim, id: 'c' }, { startOffset: 20_000_100, endOffset: 20_000_200 })).toBe(false)
})

function fail(): never {
  throw new Error('nothing was claimed there')
}
