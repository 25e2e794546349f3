// Tests reads whose clients leave while they wait behind other answers for the same user: they are not made any more.
import { expect, test } from 'vitest'
import type { GatewayRequest } from '../../src/http/request.ts'
import { startGateway } from '../support/gateway.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

/** As many answers are made for one user at a time. */
const AT_A_TIME = 6
const REF = 'site'

const overRest = (number: number) => ({ target: `/exports?r=${REF}&number=${number}` })
const overGraphQL = (number: number) => ({
  target: `/graphql?query=${encodeURIComponent(`{ me { a${number}: latestExport(ref: "${REF}") { digest } } }`)}`,
})

test.each([
  ['REST', overRest],
  ['GraphQL', overGraphQL],
])('an answer over %s that nobody waits for is not made', async (_, requestOf) => {
  const mayRead = Promise.withResolvers<void>()
  let checked = 0
  let read = 0
  const over: GatewayRequest['record'][] = []
  const gateway = await startGateway({
    observers: [({ record }) => void over.push(record)],
    wrapStore: (store) => ({
      ...store,
      async liveSessions(ids, now) {
        const sessions = await store.liveSessions(ids, now)
        checked += ids.length
        return sessions
      },
      async latestExports(questions) {
        read += questions.length
        await mayRead.promise
        return store.latestExports(questions)
      },
    }),
  })
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const headers = [['Authorization', `Bearer ${accessToken}`]] as const
  const sockets = await Promise.all(Array.from({ length: AT_A_TIME + 1 }, () => openSocket(gateway.url)))
  const [last, ...others] = sockets
  for (const [number, socket] of others.entries()) socket.write(requestText({ ...requestOf(number), headers }))
  await expect.poll(() => read).toBe(AT_A_TIME)
  over.length = 0
  last?.write(requestText({ ...requestOf(AT_A_TIME), headers }))
  await expect.poll(() => checked).toBe(AT_A_TIME + 1)
  last?.destroy()
  await expect
    .poll(() => over.map(({ status, isBrokenOff }) => ({ status, isBrokenOff })))
    .toEqual([{ status: 400, isBrokenOff: true }])
  mayRead.resolve()
  await expect.poll(() => over.length).toBe(AT_A_TIME + 1)
  expect(read).toBe(AT_A_TIME)
})
