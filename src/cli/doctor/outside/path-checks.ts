// Checks that a request arrives at the gateway with the path and the query it was sent to. Most other checks depend on
// the path.
import { type Check, type NotChecked, type Outcome, runChecks, type Verdict } from '../check.ts'
import { isOfGateway, isSeen, type Outside, PROBE_REF, see, textMember } from './context.ts'

/** From this status on, an answer says nothing about the path: a server failed. */
const SERVER_FAILED = 500
/**
 * The version at the start of an OpenAPI document. Other answers may have a member `openapi` too, such as a link to it.
 */
const OPENAPI_VERSION = /^\d+\./

const PATH_CHECKS: readonly Check<Outside>[] = [{ name: 'query', run: query }]

/** The gateway answers 400 to this request only when it cannot parse it. */
const UNEXPECTED_PROXY_HEADER: Verdict = {
  problem:
    'the path of a request does not arrive at the gateway, because the proxy sends a PROXY header before the request, which the gateway is not set to expect',
  fix: { gateway: '--proxy-protocol', haproxy: 'server gateway 127.0.0.1:4000' },
}

const PATH_IS_LOST: NotChecked = {
  reason: 'this check needs the path of a request, which does not arrive at the gateway: see query',
}

/** Checks the path of a request first, then runs `checks`, which depend on it, unless the path is lost. */
export async function checkPaths(checks: readonly Check<Outside>[], outside: Outside): Promise<readonly Outcome[]> {
  const first = await runChecks(PATH_CHECKS, outside)
  const isFound = first.some((outcome) => 'problem' in outcome)
  const others =
    isFound && (await isPathLost(outside))
      ? checks.map(({ name }) => ({ check: name, ...PATH_IS_LOST }))
      : await runChecks(checks, outside)
  return [...first, ...others]
}

async function query(outside: Outside): Promise<Verdict> {
  const { ask, basePath } = outside
  const { url } = outside.target
  const reply = await ask({ path: '/openapi.json?r=a%2Fb' })
  const { status, body } = reply
  if (status === 200 && OPENAPI_VERSION.test(textMember(body, 'openapi') ?? '')) return changedQuery(outside)
  if (status === 400 && isOfGateway(reply)) return UNEXPECTED_PROXY_HEADER
  return {
    problem: `the path of a request does not arrive at the gateway as it was sent, or the URL is not where the gateway is: GET /openapi.json is answered ${status}, without the document`,
    fix: {
      ...(url.pathname.replace(/\/$/, '') === basePath ? {} : { gateway: `--base-path ${url.pathname}` }),
      nginx: 'proxy_pass http://127.0.0.1:4000;',
      haproxy: 'http-request set-path must not be there',
      caddy: 'handle in place of handle_path',
      apache: 'ProxyPass / http://127.0.0.1:4000/',
    },
  }
}

/** The answer to GET /openapi.json shows that the path arrives. Only the gateway can tell what it saw of the query. */
async function changedQuery(outside: Outside): Promise<Verdict> {
  const seen = await see(outside)
  if (!isSeen(seen) || new URLSearchParams(seen.sighting.search).get('r') === PROBE_REF) return null
  const { target, basePath } = outside
  const isPrefixRemoved = target.url.pathname.replace(/\/$/, '') !== basePath
  return {
    problem: 'the query of a request does not arrive at the gateway as it was sent: GET /exports?r= finds no export',
    fix: {
      nginx: `proxy_pass http://127.0.0.1:4000${isPrefixRemoved ? `${basePath}/` : ''};`,
      haproxy: 'http-request set-query and set-uri must not be there',
      caddy: 'rewrite and uri must not be there',
      apache: 'RewriteRule must not be there',
    },
  }
}

/**
 * Whether other paths are lost too, not only that of the OpenAPI document. Every gateway answers 401 to GET /projects
 * without a token.
 */
async function isPathLost({ ask }: Outside): Promise<boolean> {
  const reply = await ask({ path: '/projects' }).catch(() => null)
  if (reply === null || reply.status >= SERVER_FAILED) return false
  // 410: the route is retired.
  return ![401, 410].includes(reply.status) || !isOfGateway(reply)
}
