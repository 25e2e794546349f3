// Types of the data that the server sends its pages: the only thing both sides share.

/** A row of the route table, as far as a client needs it. */
export interface ExplorerRoute {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly twin: string
  /** The member of the request body, for session calls. */
  readonly field: string | null
  /** The query parameter, where there is one. */
  readonly parameter: string | null
}

export interface ExplorerData {
  readonly apiVersion: string
  /** Empty, or like `/v1`. */
  readonly basePath: string
  readonly loginGuard: string
  /** The user that the pages sign in automatically, on a local gateway that has the demo workspace; else null. */
  readonly demoEmail: string | null
  readonly routes: readonly ExplorerRoute[]
}
