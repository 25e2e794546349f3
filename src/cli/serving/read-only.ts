// Implements --read-only: the options that it overrides, and those that it cannot be combined with.
import { UsageError } from '../../errors.ts'
import type { Store } from '../../store/contract.ts'
import { databasePath } from '../../store/open-store.ts'
import type { ServeConfig } from '../options/serve-options.ts'

/** Throws one `UsageError` that names every option that cannot be combined with `--read-only`. */
export function requireNoWrites(config: ServeConfig): void {
  if (!config.readOnly) return
  const wrong = [
    ...(databasePath(config.database) === null
      ? ['--read-only: only for SQLite. On PostgreSQL, use --database-replica to spread reads']
      : []),
    ...(config.databaseNext === undefined ? [] : ['--database-next: with --read-only, the database cannot move']),
    ...(config.importTokenFile === undefined ? [] : ['--import-token-file: with --read-only, nothing can be imported']),
  ]
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'))
}

/** Values that `--read-only` forces, whatever is configured: no sign-in, no demo, no audit log, no ledger. */
const READ_ONLY = {
  loginGuard: ['none'],
  noDemo: true,
  auditRetention: 0,
  ledgerRetention: 0,
  tokenAlgorithm: undefined,
} as const

/** Names in code of the options that `--read-only` overrides. */
export const READ_ONLY_OPTIONS: readonly string[] = Object.keys(READ_ONLY)

/** The effective configuration: unchanged unless `readOnly` is set. */
export function withoutWrites(config: ServeConfig): ServeConfig {
  return config.readOnly ? { ...config, ...READ_ONLY, loginGuard: [...READ_ONLY.loginGuard] } : config
}

/** Throws `UsageError` for a database without a signing key: it cannot have a valid session. */
export async function requireSigningKey(store: Pick<Store, 'signingKeys'>): Promise<void> {
  if ((await store.signingKeys()).length > 0) return
  throw new UsageError(
    '--read-only: the database has no signing key, so nobody can be signed in: serve it once without --read-only',
  )
}
