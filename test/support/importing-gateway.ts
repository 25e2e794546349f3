// A gateway that takes imports over HTTP, in a thread of this process.
import { join } from 'node:path'
import { createImporter } from '../../src/cli/import/importer.ts'
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

export async function startImporting(
  databaseUrl?: string,
  { ping = () => {}, ...options }: Pick<TestGatewayOptions, 'inFlight'> & { readonly ping?: () => void } = {},
): Promise<TestGateway> {
  const url = databaseUrl ?? `file:${join(temporaryDirectory(), 'workspace.db')}`
  const reported: unknown[] = []
  const importer = createImporter({ database: { database: url }, config: STORE }, ping, (error) => reported.push(error))
  return startGateway({ ...options, databaseUrl: url, importing: { token: IMPORT_TOKEN, importer } })
}
