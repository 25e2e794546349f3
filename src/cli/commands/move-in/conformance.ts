// conformance: the contract against any server of it, as a table, as JSON or for a build server.
import { BusyError } from '../../../conformance/cannot-tell.ts'
import type { CheckResult } from '../../../conformance/check.ts'
import { checkConformance } from '../../../conformance/conformance.ts'
import { NoAnswerError } from '../../../conformance/exchange.ts'
import { redact } from '../../../redact.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { toJson, toJUnit, toTable } from '../../move-in/conformance-report.ts'
import { readHeaders, requireServerAddress } from '../../move-in/remote-address.ts'
import type { ConformanceConfig } from '../../options/move-in/conformance-options.ts'

const REPORTS = { table: toTable, json: toJson, junit: toJUnit } as const

export async function runConformance(url: string, config: ConformanceConfig, io: CommandIo): Promise<ExitCode> {
  const address = requireServerAddress(url)
  const headers = await readHeaders(config.headers)
  const results: CheckResult[] = []
  try {
    for await (const result of checkConformance(address, { email: config.email, headers, fields: config })) {
      const isStrict = config.strict && result.outcome === 'silent'
      results.push({ ...result, outcome: isStrict ? 'fail' : result.outcome, found: redact(result.found) })
    }
  } catch (error) {
    if (!(error instanceof NoAnswerError || error instanceof BusyError)) throw error
    io.stderr.write(`${redact(error.message)}\n`)
    return 1
  }
  io.stdout.write(REPORTS[config.format](address, results))
  return results.some(({ outcome }) => outcome === 'fail') ? 1 : 0
}
