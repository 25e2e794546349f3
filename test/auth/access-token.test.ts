import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createAccessTokens } from '../../src/auth/tokens/access-token.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

const NOW = Date.UTC(2026, 0, 1)

/** The same signature under other claims: what a memory that looks at signatures alone would let in. */
function withOtherClaims(token: string): string {
  const [header, payload = '', signature] = token.split('.')
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'eve@example.com' }
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
}

test.each([
  ['that was just issued', 0],
  ['of the older generation of known tokens', 4],
  ['that was forgotten', 8],
])('the signature of a token %s proves nothing of other claims', async (_, issuedSince) => {
  await using store = await openSqliteStore(join(temporaryDirectory(), 'tokens.db'), {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
  const keyset = await openTestKeyset({ store, now: () => NOW })
  const options = { issuer: 'issuer', audience: 'audience', ttlSeconds: 900, clock: () => NOW, maxKnown: 8 }
  const { issue, verify } = createAccessTokens(keyset, options)
  const token = await issue({ sessionId: 'session', email: ANA })
  for (let count = 0; count < issuedSince; count += 1) await issue({ sessionId: `other ${count}`, email: ANA })
  expect(await verify(withOtherClaims(token))).toBeNull()
  expect(await verify(token)).toMatchObject({ sessionId: 'session', email: ANA })
})
