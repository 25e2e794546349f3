// More clients than a gateway can answer: what they see, and what a health check sees beside them.
import { expect, test } from 'vitest'
import { ask, bearer, startGateway } from '../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

test('more than can be answered is 503 with Retry-After in both dialects, and health is always answered', async () => {
  const gateway = await startGateway({
    maxQueueDelayMs: 10,
    wrapStore: (store) => ({
      ...store,
      liveSessions(ids, now) {
        for (const end = performance.now() + 20 * ids.length; performance.now() < end; );
        return store.liveSessions(ids, now)
      },
    }),
  })
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  // GraphQL is loaded by its first request, in hundreds of turns.
  await gateway.graphql('{ me { email } }', { accessToken })
  const seen = new Map<string, string>()
  const healths = new Set<number>()
  const hasAll = () => ['rest 200', 'rest 503', 'graphql 503'].every((name) => seen.has(name))
  const clients = Array.from({ length: 400 }, async (_, client) => {
    while (!hasAll()) {
      const isGraphql = client % 2 === 0
      const answer = isGraphql
        ? await gateway.graphql('{ me { email } }', { accessToken })
        : await gateway.get('/projects', accessToken)
      seen.set(`${isGraphql ? 'graphql' : 'rest'} ${answer.status}`, answer.text)
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('1')
      if (client < 20) healths.add((await ask(`${gateway.url}/${client % 3 === 0 ? 'healthz' : 'readyz'}`)).status)
    }
  })
  await Promise.all(clients)
  expect([...healths]).toEqual([200])
  expect(JSON.parse(seen.get('rest 503') ?? '').code).toBe('UNAVAILABLE')
  expect(JSON.parse(seen.get('graphql 503') ?? '').errors[0].extensions.code).toBe('UNAVAILABLE')
  // It is no failure of the gateway: the log says it once, not for every request.
  expect(gateway.reported).toEqual([])
  await expect
    .poll(async () => (await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })).status)
    .toBe(200)
})
