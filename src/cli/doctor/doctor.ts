// doctor: checks a gateway from inside and through the proxies in front of it, and prints the lines that fix what it
// finds.
import { X509Certificate } from 'node:crypto'
import { issueProbeToken } from '../../auth/tokens/probe-token.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { lazyAsync } from '../../http/lazy.ts'
import { toLine } from '../../redact.ts'
import { databasePath } from '../../store/open-store.ts'
import { readFileOf } from '../configuration/text-file.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { type Outcome, type Place, runChecks } from './check.ts'
import type { DoctorConfig } from './doctor-options.ts'
import { CONFIGURATION_CHECKS } from './inside/configuration-checks.ts'
import { type Inside, isFound } from './inside/context.ts'
import { checkDatabase } from './inside/database-checks.ts'
import { lookAtDatabase, lookAtKeys } from './inside/look-inside.ts'
import { AnswerError } from './outside/answer-error.ts'
import { CACHING_CHECKS } from './outside/caching-checks.ts'
import { createAsk, type Reply } from './outside/client.ts'
import { codeOf, DOCUMENT, isOfGateway, type Outside, unlessLimited } from './outside/context.ts'
import { CORS_CHECKS } from './outside/cors-checks.ts'
import { FORWARDING_CHECKS } from './outside/forwarding-checks.ts'
import { LIMIT_CHECKS } from './outside/limit-checks.ts'
import { MESSAGE_CHECKS } from './outside/message-checks.ts'
import { checkPaths } from './outside/path-checks.ts'
import { SIGN_IN_CHECKS } from './outside/sign-in-checks.ts'
import { TLS_CHECKS } from './outside/tls-checks.ts'
import { countFindings, toReport } from './report.ts'

/**
 * Without the PROXY header the gateway closes the connection without an answer, so the error alone explains nothing.
 */
const NO_PROXY_HEADER =
  '\nwith --proxy-protocol the proxy must begin each connection with a PROXY header, as HAProxy does with: server gateway 127.0.0.1:4000 send-proxy-v2-ssl'

const NO_URL: Outcome = { check: 'outside', reason: 'name the URL of the gateway to have it checked' }

/** Returns 1 when there are findings. Throws `UsageError` when no gateway answers at `url`. */
export async function runDoctor(
  url: string | undefined,
  config: DoctorConfig,
  io: CommandIo,
  { environment, recommend }: Pick<Inside, 'environment' | 'recommend'>,
): Promise<ExitCode> {
  if (url === undefined && config.look === 'outside')
    throw new UsageError('--look outside: name the URL of the gateway')
  const { clock } = io
  const database = await lookAtDatabase(config, clock)
  const keys = await lookAtKeys(config, database, recommend)
  const inside: Inside = { config, environment, database, keys, recommend, clock }
  const outcomes: Outcome[] = []
  if (config.look !== 'outside')
    outcomes.push(...(await checkDatabase(inside)), ...(await runChecks(CONFIGURATION_CHECKS, inside)))
  let proxy: Place | null = null
  if (url === undefined && config.look === 'both') outcomes.push(NO_URL)
  if (url !== undefined && config.look !== 'inside') {
    const outside = await lookOutside(url, inside)
    const first = await requireGateway(outside, url, config)
    proxy = proxyOf(first)
    const ofAnswers = [...MESSAGE_CHECKS, ...LIMIT_CHECKS, ...CACHING_CHECKS, ...CORS_CHECKS]
    const onPaths = [...SIGN_IN_CHECKS, ...FORWARDING_CHECKS, ...ofAnswers]
    outcomes.push(...(await runChecks(TLS_CHECKS, outside)), ...(await checkPaths(onPaths, outside)))
  }
  io.stdout.write(toReport(outcomes, config.format, proxy))
  return countFindings(outcomes) === 0 ? 0 : 1
}

async function lookOutside(text: string, { config, keys, clock }: Inside): Promise<Outside> {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError('doctor: the URL must be like https://gateway.example.com')
  const target = {
    url,
    address: config.connectTo,
    ca: config.tlsCa === undefined ? undefined : readAuthorities(config.tlsCa),
  }
  const ask = unlessLimited(createAsk(target))
  const now = clock()
  // A key that signs already: the gateway may not have read a newer one yet.
  const key = isFound(keys) ? keys.keys.find(({ createdAt }) => createdAt <= now) : undefined
  return {
    target,
    ask,
    probeToken: key ? await issueProbeToken(key, now) : null,
    seen: new Map(),
    document: lazyAsync(() => ask(DOCUMENT)),
    unauthenticated: lazyAsync(() => ask({ path: '/projects' })),
    basePath: config.basePath,
    bodyLimit: config.bodyLimit,
    databaseWaitMs:
      databasePath(config.database) === null ? config.connectTimeout + config.statementTimeout : config.lockTimeout,
    corsOrigins: config.corsOrigin,
    clock,
  }
}

async function requireGateway(outside: Outside, url: string, { proxyProtocol }: DoctorConfig): Promise<Reply> {
  const reply = await outside.ask({ path: '/healthz' }).catch((error: unknown) => {
    const reason = toLine(reasonOf(error))
    const advice = proxyProtocol === true ? NO_PROXY_HEADER : ''
    throw new UsageError(
      `doctor: at ${url} ${error instanceof AnswerError ? reason : `nothing answers: ${reason}${advice}`}`,
    )
  })
  if (isOfGateway(reply)) return reply
  if (await hasGatewayErrors(outside)) {
    throw new UsageError(
      `doctor: at ${url} a gateway answers, but something in front of it removes the header API-Version from its answers: let that header through, by which clients know the version (nginx: no proxy_hide_header API-Version)`,
    )
  }
  throw new UsageError(
    `doctor: at ${url} something answers ${reply.status}, but it is not a gateway: check the path, and that the gateway is running behind the proxy`,
  )
}

async function hasGatewayErrors({ unauthenticated }: Outside): Promise<boolean> {
  try {
    return codeOf((await unauthenticated()).body) === 'UNAUTHENTICATED'
  } catch {
    return false
  }
}

function proxyOf({ headers }: Reply): Place | null {
  const said = `${headers.server ?? ''} ${headers.via ?? ''}`.toLowerCase()
  return (['nginx', 'caddy', 'haproxy', 'apache'] as const).find((name) => said.includes(name)) ?? null
}

/** Node takes a file without a certificate for one that trusts nobody, and the proxy's certificate would be blamed. */
function readAuthorities(path: string): string {
  const text = readFileOf('--tls-ca', path)
  try {
    new X509Certificate(text)
  } catch {
    throw new UsageError(`--tls-ca: ${path} holds no certificate in PEM`)
  }
  return text
}
