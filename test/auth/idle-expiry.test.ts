// Tests when a refresh moves the idle expiry of its session, and when it writes nothing.
import { expect, test } from 'vitest'
import { type Store, StoreReadOnlyError } from '../../src/store/contract.ts'
import { startGateway } from '../support/gateway.ts'
import { ANA } from '../support/workspaces.ts'

const DAY = 86_400
/** A hundredth of 14 days. */
const PRECISION = 12_096

interface Extension {
  readonly id: string
  readonly lastUsedAt: number
  readonly idleExpiresAt: number
}

interface CountingOptions {
  readonly databasePath?: string
  readonly refreshIdleTtlSeconds?: number
  /** Called before sessions are extended. */
  readonly beforeExtending?: (store: Store, now: number) => unknown
}

async function startCounting({ beforeExtending = () => {}, ...options }: CountingOptions = {}) {
  const extensions: Extension[] = []
  const gateway = await startGateway({
    ...options,
    wrapStore: (store) => ({
      ...store,
      async extendSessions(asked) {
        extensions.push(...asked)
        await beforeExtending(store, asked[0]?.lastUsedAt ?? 0)
        return store.extendSessions(asked)
      },
    }),
  })
  return {
    gateway,
    async refresh(refreshToken: string) {
      const { status } = await gateway.send('POST', '/token', JSON.stringify({ refreshToken }))
      return [status, extensions.splice(0).map(({ lastUsedAt, idleExpiresAt }) => [lastUsedAt, idleExpiresAt])]
    },
  }
}

test('a refresh extends a session only after a hundredth of its idle lifetime has passed', async () => {
  const { gateway, refresh } = await startCounting()
  const { refreshToken } = await gateway.login(ANA)
  gateway.advance(PRECISION - 1)
  expect(await refresh(refreshToken)).toEqual([200, []])
  gateway.advance(1)
  const extended = [gateway.now(), gateway.now() + 14 * DAY * 1_000]
  expect(await refresh(refreshToken)).toEqual([200, [extended]])
  expect(await refresh(refreshToken)).toEqual([200, []])
})

test('a refresh near the absolute end records the use and does not extend the session', async () => {
  const { gateway, refresh } = await startCounting()
  const start = gateway.now()
  const { refreshToken } = await gateway.login(ANA)
  const end = start + 90 * DAY * 1_000
  for (let day = 13; day <= 78; day += 13) {
    gateway.advance(13 * DAY)
    expect(await refresh(refreshToken)).toEqual([
      200,
      [[gateway.now(), Math.min(gateway.now() + 14 * DAY * 1_000, end)]],
    ])
  }
  gateway.advance(11 * DAY)
  expect(await refresh(refreshToken)).toEqual([200, [[gateway.now(), end]]])
  expect(await refresh(refreshToken)).toEqual([200, []])
  gateway.advance(DAY)
  expect(await refresh(refreshToken)).toEqual([401, []])
})

test('a gateway with a longer idle lifetime extends a session that was just used', async () => {
  const { gateway } = await startCounting()
  const { refreshToken } = await gateway.login(ANA)
  const longer = await startCounting({ databasePath: gateway.databasePath, refreshIdleTtlSeconds: 28 * DAY })
  const extended = [gateway.now(), gateway.now() + 28 * DAY * 1_000]
  expect(await longer.refresh(refreshToken)).toEqual([200, [extended]])
  expect(await longer.refresh(refreshToken)).toEqual([200, []])
})

test('a refresh is refused if its session ends between its lookup and its extension', async () => {
  const { gateway, refresh } = await startCounting({
    beforeExtending: (store, now) => store.revokeSessionsOf(ANA, now),
  })
  const { refreshToken } = await gateway.login(ANA)
  gateway.advance(PRECISION)
  expect(await refresh(refreshToken)).toEqual([401, [expect.anything()]])
})

test('a refresh succeeds if the database may only be read, and the session ends when it would have', async () => {
  const { gateway, refresh } = await startCounting({
    beforeExtending() {
      throw new StoreReadOnlyError('read-only')
    },
  })
  const { refreshToken } = await gateway.login(ANA)
  gateway.advance(14 * DAY - 1)
  expect(await refresh(refreshToken)).toEqual([200, [expect.anything()]])
  gateway.advance(1)
  expect(await refresh(refreshToken)).toEqual([401, []])
})
