// Tests that the cache of verified access tokens never accepts a known signature with other claims.
import { expect, test } from 'vitest'
import { createAccessTokens } from '../../src/auth/tokens/access-token.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { ANA } from '../support/workspaces.ts'

const NOW = Date.UTC(2026, 0, 1)

/** Puts other claims before the same signature. A cache keyed by the signature alone would accept the result. */
function withOtherClaims(token: string): string {
  const [header, payload = '', signature] = token.split('.')
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'eve@example.com' }
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
}

test.each([
  ['just issued', 0],
  ['in the older generation of known tokens', 4],
  ['already evicted', 8],
])('the signature of a token %s does not verify other claims', async (_, issuedSince) => {
  await using store = await openTestStore()
  const keyset = await openTestKeyset({ store, now: () => NOW })
  const options = { issuer: 'issuer', audience: 'audience', ttlSeconds: 900, clock: () => NOW, maxKnown: 8 }
  const { issue, verify } = createAccessTokens(keyset, options)
  const token = await issue({ sessionId: 'session', email: ANA })
  for (let count = 0; count < issuedSince; count += 1) await issue({ sessionId: `other ${count}`, email: ANA })
  expect(await verify(withOtherClaims(token))).toBeNull()
  expect(await verify(token)).toMatchObject({ sessionId: 'session', email: ANA })
})
