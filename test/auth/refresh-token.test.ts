// Tests refresh tokens and the hashes of them that the store keeps.
import { expect, test } from 'vitest'
import { createRefreshToken, readRefreshToken } from '../../src/auth/tokens/refresh-token.ts'

const NOW = Date.UTC(2026, 0, 1)

test('the stored hashes of tokens sort by the time they were made', () => {
  const times = [0, 1, 255, 256, 86_400_000].map((later) => NOW + later)
  const kept = times.map((now) => Buffer.from(createRefreshToken(now).hash))
  expect(kept.toSorted(Buffer.compare)).toEqual(kept)
  expect(kept.map((hash) => hash.readUIntBE(0, 6))).toEqual(times)
})

test('a token reads as its stored hash, and no two tokens are the same', () => {
  const made = Array.from({ length: 100 }, () => createRefreshToken(NOW))
  for (const { token, hash } of made) expect(readRefreshToken(token)).toEqual(hash)
  expect(new Set(made.map(({ token }) => token)).size).toBe(100)
  // The hash reveals no part of the token except its time.
  for (const { token, hash } of made) expect(Buffer.from(hash).toString('base64url')).not.toContain(token.slice(12, 30))
})
