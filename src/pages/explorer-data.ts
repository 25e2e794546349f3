// Serves /explorer.json, which tells the pages about this gateway: the route table and who may sign in.
import type { Endpoint } from '../http/handler.ts'
import { API_VERSION, jsonResponse, NO_STORE } from '../http/response.ts'
import { READ_ROUTES, SESSION_ROUTES } from '../rest/routes.ts'
import type { ExplorerData, ExplorerRoute } from './explorer-config.ts'

export interface ExplorerDataOptions {
  readonly basePath: string
  readonly loginGuard: string
  readonly findDemoEmail: () => Promise<string | null>
}

export const EXPLORER_ROUTES: readonly ExplorerRoute[] = [...READ_ROUTES, ...SESSION_ROUTES].map((row) => ({
  method: row.method,
  path: row.path,
  summary: row.summary,
  twin: row.twin,
  field: 'field' in row ? row.field : null,
  parameter: 'parameter' in row ? row.parameter : null,
}))

export function createExplorerDataEndpoint({ findDemoEmail, ...facts }: ExplorerDataOptions): Endpoint {
  return {
    method: 'GET',
    path: '/explorer.json',
    async handle() {
      const demoEmail = await findDemoEmail()
      const data: ExplorerData = { apiVersion: API_VERSION, ...facts, demoEmail, routes: EXPLORER_ROUTES }
      return jsonResponse(data, NO_STORE)
    },
  }
}
