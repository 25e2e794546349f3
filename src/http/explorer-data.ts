// What the pages know of this gateway: /explorer.json, the route table and who may sign in.
import type { ExplorerData, ExplorerRoute } from './explorer-facts.ts'
import type { Endpoint } from './handler.ts'
import { jsonReply, NO_STORE } from './reply.ts'
import { READ_ROUTES, SESSION_ROUTES } from './routes.ts'

export interface ExplorerDataOptions {
  readonly apiVersion: string
  readonly basePath: string
  readonly loginGuard: string
  readonly findDemoEmail: () => Promise<string | null>
}

export const EXPLORER_ROUTES: readonly ExplorerRoute[] = [
  ...READ_ROUTES.map(({ method, path, summary, twin, parameter = null }) => ({
    method,
    path,
    summary,
    twin,
    field: null,
    parameter,
  })),
  ...SESSION_ROUTES.map(({ method, path, summary, twin, field }) => ({
    method,
    path,
    summary,
    twin,
    field,
    parameter: null,
  })),
]

export function createExplorerDataEndpoint({ findDemoEmail, ...facts }: ExplorerDataOptions): Endpoint {
  return {
    method: 'GET',
    path: '/explorer.json',
    async handle() {
      const data: ExplorerData = { ...facts, demoEmail: await findDemoEmail(), routes: EXPLORER_ROUTES }
      return jsonReply(data, NO_STORE)
    },
  }
}
