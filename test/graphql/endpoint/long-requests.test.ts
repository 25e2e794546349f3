// Requests whose JSON takes long to read: strangers may send none, and each user only so many at once.
import { expect, test } from 'vitest'
import { createReadLong } from '../../../src/graphql/endpoint/long-requests.ts'
import { createInFlightBytes } from '../../../src/http/limits/in-flight-bytes.ts'
import { bearer, startGateway } from '../../support/gateway.ts'
import { liveSession } from '../../support/live-session.ts'
import { ANA, SMALL_WORLD } from '../../support/workspaces.ts'

const SHORT = 16_384

/** A request of `length` characters, which is not JSON unless `end` closes it. */
function request(length: number, end = '}'): string {
  const start = '{"query":"{ __typename }"'
  return `${start}${' '.repeat(length - start.length - end.length)}${end}`
}

test('a long request is read for a signed-in user, and for nobody else', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const ask = async (body: string, headers = {}) => {
    const type = { 'content-type': 'application/json', accept: 'application/graphql-response+json' }
    const { status, text } = await gateway.send('POST', '/graphql', body, { ...type, ...headers })
    return [status, text.includes('"Query"') ? 'read' : JSON.parse(text).errors[0].extensions.code]
  }
  const stranger = [401, 'UNAUTHENTICATED']
  expect(await ask(request(SHORT))).toEqual([200, 'read'])
  expect(await ask(request(SHORT + 1))).toEqual(stranger)
  expect(await ask(request(SHORT + 1, '!'))).toEqual(stranger)
  expect(await ask(request(SHORT + 1), bearer('made-up'))).toEqual([401, 'INVALID_TOKEN'])
  const ana = bearer(accessToken)
  const answers = [request(100_000), request(SHORT + 1, '!'), request(SHORT + 1)].map((body) => ask(body, ana))
  expect(await Promise.all(answers)).toEqual([
    [200, 'read'],
    [400, 'MALFORMED_JSON'],
    [200, 'read'],
  ])
})

test.each([
  ['one user', 1, [2, null]],
  ['all sessions without a workspace', null, [1, 2]],
] as const)(
  'while 64 long requests of %s wait, a further one is refused, and those of others are not',
  async (_, many, few) => {
    const inFlight = createInFlightBytes(100 * SHORT)
    const readLong = createReadLong(inFlight)
    const source = request(SHORT)
    const ask = (userId: number | null) =>
      readLong(source, { viewer: liveSession(userId), refusal: null }, () => userId)
    const waiting = Array.from({ length: 65 }, () => ask(many))
    const tooMuch = ask(many)
    const others = few.map(ask)
    expect(inFlight.byteLength()).toBe(68 * SHORT)
    await expect(tooMuch).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 })
    expect(await Promise.all([...waiting, ...others])).toEqual([...waiting.map(() => many), ...few])
    expect(inFlight.byteLength()).toBe(0)
  },
)
