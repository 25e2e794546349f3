// Converts the configuration of `serve` to the options of the login guards.
import type { GuardOptions } from '../../../auth/guards/guards.ts'
import type { ServeConfig } from '../serve-options.ts'
import { toAssertionGuardOptions } from './assertion-options.ts'
import { toMailGuardOptions } from './mail-options.ts'

export function toGuardOptions(config: ServeConfig): GuardOptions {
  return {
    trustedOrigins: config.corsOrigin,
    mail: toMailGuardOptions(config),
    assertion: toAssertionGuardOptions(config),
  }
}
