// config check: whether serve would take this configuration, as a start would, without one.
import type { Environment } from '../../configuration/settings.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { exposureWarnings } from '../../login-exposure.ts'
import type { ServeConfig } from '../../options/serve-options.ts'
import { planServe } from '../../serving/serve-plan.ts'

/** Throws one `UsageError` that names everything wrong. What a start would warn of goes to stderr. */
export async function runConfigCheck(
  asked: ServeConfig,
  environment: Environment,
  { stdout, stderr }: CommandIo,
): Promise<ExitCode> {
  const { config } = await planServe(asked, environment)
  // Which user the service runs as is not known here.
  for (const warning of exposureWarnings(config, undefined)) stderr.write(`warning: ${warning}\n`)
  stdout.write('the configuration is good\n')
  return 0
}
