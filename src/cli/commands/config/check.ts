// config check: checks the configuration as the start of `serve` does, without starting a gateway.
import type { Environment } from '../../configuration/settings.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { exposureWarnings } from '../../login-exposure.ts'
import type { ServeConfig } from '../../options/serve-options.ts'
import { planServe } from '../../serving/serve-plan.ts'

/** Throws one `UsageError` that names every problem. Writes the warnings of a start to stderr. */
export async function runConfigCheck(
  asked: ServeConfig,
  environment: Environment,
  { stdout, stderr }: CommandIo,
): Promise<ExitCode> {
  const { config } = await planServe(asked, environment)
  // The user id is undefined: which user the service will run as is not known here.
  for (const warning of exposureWarnings(config, undefined)) stderr.write(`warning: ${warning}\n`)
  stdout.write('the configuration is valid\n')
  return 0
}
