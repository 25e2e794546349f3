// Checks of the four read routes: they answer arrays of the caller's own data, and only with an access token.
import { unlessArray, unlessSentAsJson } from '../answer-body.ts'
import { CannotTellError } from '../cannot-tell.ts'
import { type Check, unlessStatus } from '../check.ts'
import type { ProbeAnswer } from '../exchange.ts'
import { bearer, requireRefreshToken } from '../own-session.ts'
import type { Probe } from '../probe.ts'
import { unlessHeader } from './header.ts'
import { withOtherSignature, withoutSignature } from './tokens.ts'

type PathOf = (probe: Probe) => Promise<string> | string

const LISTS = ['/projects', '/templates', '/ui-libraries'] as const

export const READ_CHECKS: readonly Check[] = [
  ...LISTS.flatMap((path) => checksOf(`GET ${path}`, () => path, [200, 404])),
  ...checksOf('GET /exports', (probe) => probe.exportPath(), [200]),
]

/** Statuses of a proxy without its server, or of a busy server: nothing has checked the token. */
const UNAVAILABLE_STATUSES = [502, 503, 504]

/** The checks that are the same for every read route. */
function checksOf(group: string, pathOf: PathOf, statuses: readonly number[]): readonly Check[] {
  const found = async (probe: Probe): Promise<ProbeAnswer> => {
    const answer = await probe.read(await pathOf(probe))
    if (answer.status !== 200) throw new CannotTellError(`answered ${answer.status}`)
    return answer
  }
  const refusal = (name: string, headersOf: (probe: Probe) => Promise<Record<string, string>>): Check => ({
    group,
    name: `refuses ${name}`,
    source: 'contract',
    async run(probe) {
      // First requires a successful read: a server that checks no token also refuses what does not exist.
      await found(probe)
      const headers = await headersOf(probe)
      const { status } = await probe.send({ method: 'GET', path: await pathOf(probe), headers })
      if (UNAVAILABLE_STATUSES.includes(status)) throw new CannotTellError(`answered ${status}`)
      return status < 400 ? `answered ${status}` : null
    },
  })
  return [
    {
      group,
      name: `answers ${statuses.join(' or ')}`,
      source: 'contract',
      run: async (probe) => unlessStatus(await probe.read(await pathOf(probe)), ...statuses),
    },
    { group, name: 'answers JSON', source: 'contract', run: async (probe) => unlessSentAsJson(await found(probe)) },
    {
      group,
      name: 'answers an array in UTF-8',
      source: 'contract',
      run: async (probe) => unlessArray(await found(probe)),
    },
    refusal('a request without Authorization', async () => ({})),
    refusal('a refresh token', async (probe) => bearer(requireRefreshToken(await probe.session()))),
    refusal('a token signed by another key', async (probe) =>
      bearer(withOtherSignature((await probe.session()).accessToken)),
    ),
    refusal('a token without a signature', async (probe) =>
      bearer(withoutSignature((await probe.session()).accessToken)),
    ),
    refusal('to tell a stranger that nothing has changed', async (probe) => {
      const tag = (await found(probe)).headers.etag
      return { 'if-none-match': tag ?? '*' }
    }),
    {
      group,
      name: 'refuses with 401 and WWW-Authenticate',
      source: 'gateway',
      async run(probe) {
        const answer = await probe.send({ method: 'GET', path: await pathOf(probe) })
        return unlessStatus(answer, 401) ?? unlessHeader(answer, 'www-authenticate', /^Bearer\b/i)
      },
    },
    {
      group,
      name: 'answers HEAD like GET, without the body (RFC 9110, section 9.3.2)',
      source: 'standard',
      async run(probe) {
        const get = await found(probe)
        return unlessHeadOf(get, await probe.sendAsUser({ method: 'HEAD', path: await pathOf(probe) }))
      },
    },
    {
      group,
      name: 'does not let caches give it to others',
      source: 'safety',
      async run(probe) {
        const cacheControl = (await found(probe)).headers['cache-control'] ?? ''
        return /\bpublic\b|s-maxage/i.test(cacheControl) ? `cache-control is ${cacheControl}` : null
      },
    },
    {
      group,
      name: 'lets caches keep it for its user only, and ask again each time',
      source: 'gateway',
      run: async (probe) => unlessHeader(await found(probe), 'cache-control', /^private\b.*\bno-cache/),
    },
    {
      group,
      name: 'answers 304 to If-None-Match with the tag it answered',
      source: 'gateway',
      async run(probe) {
        const { etag } = (await found(probe)).headers
        if (etag === undefined) return 'there is no etag'
        const headers = { 'if-none-match': etag }
        return unlessStatus(await probe.sendAsUser({ method: 'GET', path: await pathOf(probe), headers }), 304)
      },
    },
  ]
}

function unlessHeadOf(get: ProbeAnswer, head: ProbeAnswer): string | null {
  const expected = {
    'content-type': get.headers['content-type'],
    // A chunked answer has no Content-Length, but HEAD may tell what it would be (RFC 9110 section 8.6).
    'content-length': get.headers['content-length'] ?? String(get.receivedBytes),
  } as const
  const differing = (['content-type', 'content-length'] as const).find(
    // With HEAD, a server may omit headers that it could compute only by generating the body.
    (name) => head.headers[name] !== undefined && head.headers[name] !== expected[name],
  )
  return (
    unlessStatus(head, get.status) ??
    (differing === undefined ? null : `${differing} is ${head.headers[differing]}, and ${expected[differing]} with GET`)
  )
}
