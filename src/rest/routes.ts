// The REST contract: one row per route, with its GraphQL twin.
import type { FailureCode } from '../errors.ts'
import type { Context, WorkspaceUser } from '../resolvers/context.ts'
import type { Paged } from '../resolvers/pagination/paged.ts'
import { resolvers } from '../resolvers/resolvers.ts'
import type { Awaitable, StoredDocument, StoredExport } from '../store/contract.ts'

interface Row {
  readonly method: string
  readonly path: string
  /** What the route does, in a few words. */
  readonly summary: string
  /** The same operation in GraphQL. Its variables are the body's field or the query's parameter. */
  readonly twin: string
  /** How the route may fail, besides the failures of every route (`ANY_ROUTE_FAILURES`). */
  readonly failures: readonly FailureCode[]
}

/** How any route may fail. */
export const ANY_ROUTE_FAILURES: readonly FailureCode[] = ['ROUTE_RETIRED', 'INTERNAL', 'ROUTE_BROWNOUT', 'UNAVAILABLE']

/** A session call: one field in, tokens or nothing out. */
export interface SessionRoute extends Row {
  readonly field: 'email' | 'refreshToken'
  /** A field that may be omitted. */
  readonly optionalField?: 'code'
  /** Whether a body of another media type is refused. A missing body has no media type. */
  readonly requiresJson: boolean
  /** Whether an empty body is malformed, instead of counting as a body without the field. */
  readonly requiresBody: boolean
  /**
   * `value` is empty when the body lacks the field, or the field has another type. `option` is null when the body lacks
   * that field, and empty when it has another type.
   */
  readonly resolve: (value: string, context: Context, option: string | null) => Promise<object>
}

/** A read of the user's own data: a JSON array, either of documents or of the elements of an export. */
export interface ReadRoute extends Row {
  /** The only query parameter. It is required before anything is read. */
  readonly parameter?: string
  /** `value` is the value of the parameter; empty for a route without one. */
  readonly resolve: (
    me: WorkspaceUser,
    value: string,
    context: Context,
  ) => Awaitable<readonly StoredDocument[] | Paged<StoredDocument> | StoredExport>
}

const { User, Mutation } = resolvers

const LOGOUT = {
  path: '/logout',
  field: 'refreshToken',
  requiresJson: false,
  requiresBody: false,
  summary: 'Sign out',
  failures: [
    'MALFORMED_JSON',
    'UNAUTHENTICATED',
    'INVALID_TOKEN',
    'READ_ONLY',
    'BODY_TOO_LARGE',
    // For a body with a content coding: its media type may be any.
    'UNSUPPORTED_MEDIA_TYPE',
  ],
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
    optionalField: 'code',
    requiresJson: true,
    requiresBody: true,
    summary: 'Sign in',
    failures: [
      'MALFORMED_JSON',
      'INVALID_EMAIL',
      'LOGIN_REFUSED',
      'LOGIN_CODE_SENT',
      'LOGIN_CODE_WRONG',
      'READ_ONLY',
      'BODY_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'TOO_MANY_REQUESTS',
    ],
    twin: 'mutation($email: String!) { login(email: $email) { accessToken refreshToken } }',
    resolve: (email, context, code) => Mutation.login({}, { email, code }, context),
  },
  {
    method: 'POST',
    path: '/token',
    field: 'refreshToken',
    requiresJson: true,
    requiresBody: false,
    summary: 'Get a new access token',
    failures: [
      'MALFORMED_JSON',
      'UNAUTHENTICATED',
      'INVALID_TOKEN',
      'BODY_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'TOO_MANY_REQUESTS',
    ],
    twin: 'mutation($refreshToken: String!) { refresh(refreshToken: $refreshToken) { accessToken } }',
    resolve: (refreshToken, context) => Mutation.refresh({}, { refreshToken }, context),
  },
  { method: 'DELETE', ...LOGOUT },
  // Many proxies and clients drop the body of a DELETE.
  { method: 'POST', ...LOGOUT },
]

const READ_FAILURES = [
  'UNAUTHENTICATED',
  'INVALID_TOKEN',
  'NO_WORKSPACE',
  'NOT_ACCEPTABLE',
  'PRECONDITION_FAILED',
] as const

export const READ_ROUTES: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '/projects',
    summary: 'All projects',
    failures: READ_FAILURES,
    twin: '{ me { projects { data } } }',
    resolve: (me, _value, context) => User.projects(me, {}, context),
  },
  {
    method: 'GET',
    path: '/exports',
    parameter: 'r',
    summary: 'Newest export of a project',
    failures: [...READ_FAILURES, 'MISSING_PARAMETER', 'NO_PROJECT', 'NO_EXPORT'],
    twin: 'query($r: String!) { me { latestExport(ref: $r) { data } } }',
    resolve: (me, ref, context) => User.latestExport(me, { ref }, context),
  },
  {
    method: 'GET',
    path: '/templates',
    summary: 'Custom templates',
    failures: READ_FAILURES,
    twin: '{ me { templates { data } } }',
    resolve: (me, _value, context) => User.templates(me, {}, context),
  },
  {
    method: 'GET',
    path: '/ui-libraries',
    summary: 'Custom UI libraries',
    failures: READ_FAILURES,
    twin: '{ me { uiLibraries { data } } }',
    resolve: (me, _value, context) => User.uiLibraries(me, {}, context),
  },
]

/** The part of a route that other modules need. */
export type RestRoute = Pick<Row, 'method' | 'path' | 'twin'>

export const REST_ROUTES: readonly RestRoute[] = [...SESSION_ROUTES, ...READ_ROUTES]
