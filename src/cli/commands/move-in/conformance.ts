// conformance: checks any server against the contract, and reports as a table, as JSON or as JUnit XML for a build
// server.
import { BusyError } from '../../../conformance/cannot-tell.ts'
import type { CheckResult } from '../../../conformance/check.ts'
import { type Conformance, checkConformance, RedirectError } from '../../../conformance/conformance.ts'
import { NoAnswerError } from '../../../conformance/exchange.ts'
import { redact } from '../../../redact.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { leftOpenInWords, toJson, toJUnit, toTable } from '../../move-in/conformance-report.ts'
import { readHeaders, requireServerAddress } from '../../move-in/remote-address.ts'
import type { ConformanceConfig } from '../../options/move-in/conformance-options.ts'

const REPORTS = { table: toTable, json: toJson, junit: toJUnit } as const

export async function runConformance(
  url: string,
  config: ConformanceConfig,
  io: CommandIo,
  stopSignal: () => AbortSignal,
): Promise<ExitCode> {
  const address = requireServerAddress(url, '--headers')
  const headers = readHeaders(config.headers)
  // Not before: the file may be a pipe whose writer never comes, and reading it heeds no signal.
  const stop = stopSignal()
  let found: Conformance
  try {
    found = await checkConformance(address, { email: config.email, headers, fields: config, stop })
  } catch (error) {
    if (!isAboutServer(error)) throw error
    io.stderr.write(`${redact(error.message)}\n`)
    return 1
  }
  if (!found.isWhole) {
    io.stderr.write(`stopped before everything was checked\n${leftOpenInWords(found.sessionsLeftOpen)}`)
    return 1
  }
  const checks = found.checks.map((check) => toShown(check, config))
  io.stdout.write(REPORTS[config.format](address, { ...found, checks }))
  return checks.some(({ outcome }) => outcome === 'fail') ? 1 : 0
}

/** No check was tried. The message says why. */
function isAboutServer(error: unknown): error is Error {
  return error instanceof NoAnswerError || error instanceof BusyError || error instanceof RedirectError
}

function toShown(check: CheckResult, { strict }: ConformanceConfig): CheckResult {
  const isStrict = strict && check.outcome === 'silent'
  return { ...check, outcome: isStrict ? 'fail' : check.outcome, found: redact(check.found) }
}
