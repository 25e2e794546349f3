// The REST contract: one row per route, its GraphQL twin beside it.
import { GatewayError } from '../errors.ts'
import type { Context, WorkspaceUser } from '../graphql/context.ts'
import { resolvers } from '../graphql/resolvers/resolvers.ts'
import type { Awaitable, StoredDocument, StoredExport } from '../store/store.ts'

interface Row {
  readonly method: string
  readonly path: string
  /** The same in GraphQL; its variables are the body's field or the query's parameter. */
  readonly twin: string
}

/** A session call: one field in, tokens or nothing out. */
export interface SessionRoute extends Row {
  readonly field: 'email' | 'refreshToken'
  /** Whether a body of another media type is refused; a body that is not sent has none. */
  readonly requiresJson: boolean
  /** Whether an empty body is malformed, rather than one without the field. */
  readonly requiresBody: boolean
  /** `value` is empty when the body lacks the field or has another type there. */
  readonly resolve: (value: string, context: Context) => Promise<object>
}

/** A read of one's own: a JSON array, either of documents or of the elements of an export. */
export interface ReadRoute extends Row {
  readonly resolve: (
    me: WorkspaceUser,
    query: URLSearchParams,
    context: Context,
  ) => Awaitable<readonly StoredDocument[] | StoredExport>
}

const { User, Mutation } = resolvers

const LOGOUT = {
  path: '/logout',
  field: 'refreshToken',
  requiresJson: false,
  requiresBody: false,
  twin: 'mutation($refreshToken: String!) { logout(refreshToken: $refreshToken) }',
  async resolve(refreshToken, context) {
    await Mutation.logout({}, { refreshToken }, context)
    return {}
  },
} as const satisfies Omit<SessionRoute, 'method'>

export const SESSION_ROUTES: readonly SessionRoute[] = [
  {
    method: 'POST',
    path: '/login',
    field: 'email',
    requiresJson: true,
    requiresBody: true,
    twin: 'mutation($email: String!) { login(email: $email) { accessToken refreshToken } }',
    resolve: (email, context) => Mutation.login({}, { email }, context),
  },
  {
    method: 'POST',
    path: '/token',
    field: 'refreshToken',
    requiresJson: true,
    requiresBody: false,
    twin: 'mutation($refreshToken: String!) { refresh(refreshToken: $refreshToken) { accessToken } }',
    resolve: (refreshToken, context) => Mutation.refresh({}, { refreshToken }, context),
  },
  { method: 'DELETE', ...LOGOUT },
  // Many proxies and clients drop the body of a DELETE.
  { method: 'POST', ...LOGOUT },
]

export const READ_ROUTES: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '/projects',
    twin: '{ me { projects { data } } }',
    resolve: (me, _query, context) => User.projects(me, {}, context),
  },
  {
    method: 'GET',
    path: '/exports',
    twin: 'query($r: String!) { me { latestExport(ref: $r) { data } } }',
    resolve: (me, query, context) => User.latestExport(me, { ref: requireParameter(query, 'r') }, context),
  },
  {
    method: 'GET',
    path: '/templates',
    twin: '{ me { templates { data } } }',
    resolve: (me, _query, context) => User.templates(me, {}, context),
  },
  {
    method: 'GET',
    path: '/ui-libraries',
    twin: '{ me { uiLibraries { data } } }',
    resolve: (me, _query, context) => User.uiLibraries(me, {}, context),
  },
]

function requireParameter(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value === null || value === '') throw new GatewayError('MISSING_PARAMETER')
  return value
}
