// The options of an HTTP server for tests, with the defaults of `serve`.
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import type { ServerOptions } from '../../src/http/server/server.ts'

export function serverOptions(options: Partial<ServerOptions> = {}): ServerOptions {
  return { bodyLimitBytes: 1_048_576, inFlight: createInFlightBytes(134_217_728), sendTimeoutMs: 20_000, ...options }
}
