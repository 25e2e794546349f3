// Tests the access tokens that a process remembers: when they need no verification, when they are evicted, when they
// end.
import { expect, test } from 'vitest'
import { createAccessTokens } from '../../src/auth/tokens/access-token.ts'
import { openTestKeyset } from '../support/keyset.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { ANA } from '../support/workspaces.ts'

const NOW = Date.UTC(2026, 0, 1)

async function openTokens() {
  const store = await openTestStore()
  let now = NOW
  const keyset = await openTestKeyset({ store, now: () => NOW })
  const create = (issuer = 'issuer') =>
    createAccessTokens(keyset, { issuer, audience: 'audience', ttlSeconds: 900, clock: () => now, maxKnown: 8 })
  return {
    create,
    moveTo(milliseconds: number) {
      now = milliseconds
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('a used token stays in memory, and is verified again after two generations of newer tokens', async () => {
  await using opened = await openTokens()
  const { issue, verify } = opened.create()
  const isAtOnce = (token: string) => !(verify(token) instanceof Promise)
  const issueOthers = async (count: number) => {
    for (let at = 0; at < count; at += 1) await issue({ sessionId: `other ${at}`, email: ANA })
  }
  const token = await issue({ sessionId: 'session', email: ANA })
  expect(isAtOnce(token)).toBe(true)
  for (let round = 0; round < 4; round += 1) {
    await issueOthers(4)
    expect(isAtOnce(token)).toBe(true)
  }
  await issueOthers(7)
  expect(isAtOnce(token)).toBe(true)
  await issueOthers(8)
  expect(isAtOnce(token)).toBe(false)
  expect(await verify(token)).toMatchObject({ sessionId: 'session', email: ANA })
  expect(isAtOnce(token)).toBe(true)
})

test('emailOf knows the tokens that were issued or verified here, and no other text', async () => {
  await using opened = await openTokens()
  const [here, elsewhere] = [opened.create(), opened.create()]
  const token = await here.issue({ sessionId: 'session', email: ANA })
  expect([here.emailOf(token), elsewhere.emailOf(token)]).toEqual([ANA, null])
  await elsewhere.verify(token)
  expect(elsewhere.emailOf(token)).toBe(ANA)
  for (const other of ['', 'made-up', `x${token}`, `${token}x`, token.slice(1)]) expect(here.emailOf(other)).toBeNull()
})

test('a token is valid to the millisecond before its end, remembered or not', async () => {
  await using opened = await openTokens()
  const [here, elsewhere] = [opened.create(), opened.create()]
  const token = await here.issue({ sessionId: 'session', email: ANA })
  opened.moveTo(NOW + 899_999)
  for (const { verify } of [here, elsewhere, elsewhere]) expect(await verify(token)).not.toBeNull()
  opened.moveTo(NOW + 900_000)
  for (const { verify } of [here, elsewhere, opened.create()]) expect(await verify(token)).toBeNull()
})

test('a token of 4,096 characters is verified, a longer one is refused', async () => {
  await using opened = await openTokens()
  const verdicts = new Map<number, boolean>()
  for (let length = 2_600; verdicts.size < 40 || !verdicts.has(4_096); length += 1) {
    const issuer = 'i'.repeat(length)
    const token = await opened.create(issuer).issue({ sessionId: 'session', email: ANA })
    if (token.length > 4_080) verdicts.set(token.length, (await opened.create(issuer).verify(token)) !== null)
    if (token.length > 4_140) break
  }
  expect(verdicts.has(4_096)).toBe(true)
  for (const [length, isGood] of verdicts) expect([length, isGood]).toEqual([length, length <= 4_096])
})

test('a token in any other spelling than its canonical three parts is refused', async () => {
  await using opened = await openTokens()
  const [here, elsewhere] = [opened.create(), opened.create()]
  const token = await here.issue({ sessionId: 'session', email: ANA })
  const [header, payload, signature] = token.split('.')
  for (const text of [
    '',
    '.',
    '..',
    `${header}.${payload}`,
    `${token}.`,
    `${token}.${signature}`,
    `${token}=`,
    ` ${token}`,
  ]) {
    for (const { verify } of [here, elsewhere]) expect(await verify(text), text).toBeNull()
  }
})
