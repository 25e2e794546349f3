// What serve reads of its configuration before it opens or makes anything; everything wrong is told together.
import type { TraceSettings } from '../../admin/tracing/trace-settings.ts'
import type { GuardOptions } from '../../auth/guards/guards.ts'
import type { KeyCipher } from '../../auth/tokens/key-cipher.ts'
import { UsageError } from '../../errors.ts'
import type { RetirementPlan } from '../../rest/retirement/plan.ts'
import { requireDatabaseUrls } from '../../store/open-store.ts'
import { readToken } from '../import/read-token.ts'
import { requireGuardFiles, requireSafeExposure } from '../login-exposure.ts'
import { readHeaders } from '../move-in/remote-address.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { toGuardOptions } from '../options/sign-in/to-guard-options.ts'
import { readKeyCipher } from '../read-key-cipher.ts'
import { toRetirementPlan } from '../retirement/to-retirement-plan.ts'
import { requireSafeShadow } from '../retirement/to-shadow-options.ts'
import { requireOwnAdminPort } from '../sight/open-admin.ts'
import { readTracing, requireTraceableDatabase } from '../sight/open-tracer.ts'
import { requireNoWrites, withoutWrites } from './read-only.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ServePlan {
  /** As it is meant, where `--read-only` changes it. */
  readonly config: ServeConfig
  readonly guardOptions: GuardOptions
  readonly retirement: RetirementPlan
  readonly keyCipher: KeyCipher
  /** Null where nothing is traced. */
  readonly tracing: TraceSettings | null
  /** Null without `--import-token-file`. */
  readonly importToken: string | null
  /** For the old server. */
  readonly shadowHeaders: Readonly<Record<string, string>>
}

/** Throws one `UsageError` that names everything wrong. It asks no server and looks at no database. */
export async function planServe(asked: ServeConfig, environment: Environment): Promise<ServePlan> {
  const config = withoutWrites(asked)
  const guardOptions = toGuardOptions(config)
  const { importTokenFile, shadowHeaders } = config
  const [retirement, keyCipher, tracing, importToken, headers] = await allOf([
    () => toRetirementPlan(config),
    () => readKeyCipher(config),
    () => readTracing(environment),
    () => (importTokenFile === undefined ? null : readToken(importTokenFile, '--import-token-file')),
    () => readHeaders(shadowHeaders, '--shadow-headers'),
    () => requireSafeExposure(config, guardOptions),
    () => requireGuardFiles(config, guardOptions),
    () => requireNoWrites(asked),
    () => requireDatabaseUrls(config),
    () => requireSafeShadow(config),
    () => requireTraceableDatabase(config),
    () => requireOwnAdminPort(config),
  ])
  return { config, guardOptions, retirement, keyCipher, tracing, importToken, shadowHeaders: headers }
}

type Results<T extends readonly (() => unknown)[]> = { -readonly [K in keyof T]: Awaited<ReturnType<T[K]>> }

/** What each of them answers. Throws one `UsageError` with what all of them say is wrong. */
async function allOf<T extends readonly (() => unknown)[]>(checks: readonly [...T]): Promise<Results<T>> {
  const settled = await Promise.allSettled(checks.map(async (check) => check()))
  const errors = settled.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []))
  const wrong = errors.map((error) => {
    if (!(error instanceof UsageError)) throw error
    return error.message
  })
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'))
  return settled.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as Results<T>
}
