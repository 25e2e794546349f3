// Logs that the gateway serves, and with what: who reads the log later cannot ask a process that has ended.
import type { Logger } from 'pino'
import { shownValue } from '../configuration/shown-value.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { packageVersion } from './package-version.ts'

export function logStart({ database, loginGuard }: ServeConfig, log: Logger): void {
  const fields = { version: packageVersion(), database: shownValue({}, database), loginGuard: loginGuard.join(',') }
  log.info(fields, 'serving')
}
