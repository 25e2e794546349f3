// Starts a gateway in this process that takes imports over HTTP and runs them in a worker thread.
import { join } from 'node:path'
import { createImporter } from '../../src/cli/import/importer.ts'
import type { Importer } from '../../src/rest/import-endpoint.ts'
import type { Awaitable } from '../../src/store/awaitable.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export const IMPORT_TOKEN = 'import-token:import-token+import-token'
export const IMPORT_BEARER = { authorization: `Bearer ${IMPORT_TOKEN}` }

const STORE = {
  checkpoints: 'own' as const,
  lockTimeout: 5_000,
  connectTimeout: 30_000,
  statementTimeout: 10_000,
  poolSize: 2,
  databasePooling: 'auto' as const,
}

interface ImportingOptions extends Pick<TestGatewayOptions, 'inFlight'> {
  readonly ping?: () => Awaitable<void>
  readonly counted?: (importer: Importer) => Importer
}

export async function startImporting(
  databaseUrl?: string,
  { ping, counted = (importer) => importer, ...options }: ImportingOptions = {},
): Promise<TestGateway> {
  const url = databaseUrl ?? `file:${join(temporaryDirectory(), 'workspace.db')}`
  const importer = counted(importerOf(url, ping))
  return startGateway({ ...options, databaseUrl: url, importing: { token: IMPORT_TOKEN, importer } })
}

export function importerOf(
  databaseUrl: string,
  ping: () => Awaitable<void> = () => {},
  report: (error: unknown) => void = () => {},
): Importer {
  return createImporter({ database: { database: databaseUrl }, config: STORE }, ping, report)
}
