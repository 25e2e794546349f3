// The log: JSON lines on stderr, without secrets.
import { type Logger, pino } from 'pino'
import type { ReportFailure } from '../http/problem-details.ts'
import { redact } from '../redact.ts'
import { StoreUnavailableError } from '../store/contract.ts'
import type { CommandIo } from './io.ts'
import type { ServeConfig } from './options/config.ts'

export function createLog(level: ServeConfig['logLevel'], { stderr }: CommandIo): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: toLoggedError } },
    stderr,
  )
}

/** A failure that a client was told nothing about but its incident id. */
export function createReport(log: Logger): ReportFailure {
  return (error, incident) => log.error({ err: error, incident }, 'a request failed')
}

interface LoggedError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly cause?: LoggedError
}

function toLoggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error, message: redact(String(error)) }
  const code: unknown = Reflect.get(error, 'code')
  return {
    name: error.name,
    message: redact(error.message),
    // Where in the program a database was missed tells nothing.
    ...(error.stack === undefined || error instanceof StoreUnavailableError ? {} : { stack: redact(error.stack) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.cause === undefined ? {} : { cause: toLoggedError(error.cause) }),
  }
}
