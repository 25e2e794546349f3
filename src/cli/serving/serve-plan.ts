// Checks the configuration of `serve` and reads its files before anything is opened or created. Reports all problems at
// once.
import type { TraceSettings } from '../../admin/tracing/trace-settings.ts'
import type { GuardOptions } from '../../auth/guards/guards.ts'
import type { KeyCipher } from '../../auth/tokens/key-cipher.ts'
import { UsageError } from '../../errors.ts'
import type { RetirementPlan } from '../../rest/retirement/plan.ts'
import { requireDatabaseUrls } from '../../store/open-store.ts'
import { readToken } from '../import/read-token.ts'
import { EXPOSURE_RULES, requireGuardFiles } from '../login-exposure.ts'
import { readHeaders } from '../move-in/remote-address.ts'
import { readOptions } from '../options/option.ts'
import { SERVE_OPTIONS, type ServeConfig } from '../options/serve-options.ts'
import { toGuardOptions } from '../options/sign-in/to-guard-options.ts'
import { ValueUnreadError, withUnread } from '../options/unread-values.ts'
import { readKeyCipher } from '../read-key-cipher.ts'
import { requireKnownPaths, toRetirementPlan } from '../retirement/to-retirement-plan.ts'
import { requireSafeShadow } from '../retirement/to-shadow-options.ts'
import { requireOwnAdminPort } from '../sight/open-admin.ts'
import { readTracing, requireTraceableDatabase } from '../sight/open-tracer.ts'
import { READ_ONLY_OPTIONS, requireNoWrites, withoutWrites } from './read-only.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ServePlan {
  /** The effective configuration, after `--read-only` has been applied. */
  readonly config: ServeConfig
  readonly guardOptions: GuardOptions
  readonly retirement: RetirementPlan
  readonly keyCipher: KeyCipher
  /** Null when nothing is traced. */
  readonly tracing: TraceSettings | null
  /** Null without `--import-token-file`. */
  readonly importToken: string | null
  /** Headers for requests to the old server. */
  readonly shadowHeaders: Readonly<Record<string, string>>
}

/** Throws one `UsageError` that names every problem. Contacts no server and opens no database. */
export async function planServe(asked: ServeConfig, environment: Environment): Promise<ServePlan> {
  const config = withoutWrites(asked)
  const { results, problems } = await settle(rulesOf(asked, config, environment))
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  const [retirement, keyCipher, tracing, importToken, shadowHeaders] = results
  return { config, guardOptions: toGuardOptions(config), retirement, keyCipher, tracing, importToken, shadowHeaders }
}

/** The problems that `planServe` would report, as far as they can be known without the values in `unread`. */
export async function problemsOfPlan(
  values: Readonly<Record<string, unknown>>,
  unread: ReadonlySet<string>,
  environment: Environment,
): Promise<readonly string[]> {
  const { config } = readOptions(SERVE_OPTIONS, values)
  const unknown = new Set([
    ...unread,
    ...(unread.has('readOnly') ? READ_ONLY_OPTIONS : []),
    // A socket of the service manager has its own address.
    ...(environment.LISTEN_FDS === undefined ? [] : ['host', 'port']),
  ])
  const rules = rulesOf(withUnread(config, unknown), withUnread(withoutWrites(config), unknown), environment)
  return (await settle(rules)).problems
}

/**
 * Each rule reads only the options that it needs, and only when it runs. The first five return the parts of the plan,
 * so their order matters to `planServe`.
 */
function rulesOf(asked: ServeConfig, config: ServeConfig, environment: Environment) {
  const guardOptions = () => toGuardOptions(config)
  return [
    () => toRetirementPlan(config),
    () => readKeyCipher(config),
    () => readTracing(environment),
    () => (config.importTokenFile === undefined ? null : readToken(config.importTokenFile, '--import-token-file')),
    () => readHeaders(config.shadowHeaders, '--shadow-headers'),
    () => requireKnownPaths('--deprecated', config.deprecated),
    () => requireKnownPaths('--sunset', config.sunset),
    () => requireKnownPaths('--deprecation-link', config.deprecationLink),
    () => requireKnownPaths('--brownout', config.brownout),
    ...EXPOSURE_RULES.map((rule) => () => {
      const wrong = rule(config, guardOptions)
      if (wrong.length > 0) throw new UsageError(wrong.join('\n'))
    }),
    () => requireGuardFiles(config, guardOptions),
    () => requireNoWrites(asked),
    () => requireDatabaseUrls(config),
    () => requireSafeShadow(config),
    () => requireTraceableDatabase(config),
    () => requireOwnAdminPort(config),
  ] as const
}

type Results<T extends readonly (() => unknown)[]> = { -readonly [K in keyof T]: Awaited<ReturnType<T[K]>> }

/**
 * Runs all rules. `results` are their return values, complete only if `problems` is empty. A rule that needs an unread
 * value reports nothing.
 */
async function settle<T extends readonly (() => unknown)[]>(
  rules: readonly [...T],
): Promise<{ readonly results: Results<T>; readonly problems: readonly string[] }> {
  const settled = await Promise.allSettled(rules.map(async (rule) => rule()))
  const errors = settled.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []))
  const problems = errors.flatMap((error) => {
    if (error instanceof ValueUnreadError) return []
    if (!(error instanceof UsageError)) throw error
    return error.message
  })
  const results = settled.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as Results<T>
  return { results, problems }
}
