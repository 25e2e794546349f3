// Paths that do not exist, methods that a path does not have, references of nobody or of another user, and bad emails.
import { READ_ROUTES } from '../../src/rest/routes.ts'
import { BAD_EMAILS } from '../support/emails.ts'
import { bearer } from '../support/gateway.ts'
import { type BadRequest, JSON_TYPE, operation, type Scenario, type Scenarios, type World } from './scenario.ts'

const EXPORT_TWIN = READ_ROUTES.find(({ path }) => path === '/exports')?.twin ?? ''
const LOGIN_TWIN = 'mutation($email: String!) { login(email: $email) { accessToken refreshToken } }'

const UNKNOWN_PATHS = [
  '/nowhere',
  '/projects/',
  '/projects/site',
  '/Projects',
  '//projects',
  '/projects%00',
  '/%70rojects',
  '/projects;x=1',
  '/v1/projects',
  '/..%2f..%2fetc%2fpasswd',
  '/%2e%2e/work/main/package.json',
  '/data/workspace.db',
  '/.env',
  '/graphql/',
  '/select%20*%20from%20session',
]

const WRONG_METHODS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/login'],
  ['PUT', '/login'],
  ['DELETE', '/login'],
  ['GET', '/token'],
  ['DELETE', '/token'],
  ['GET', '/logout'],
  ['PATCH', '/logout'],
  ['POST', '/projects'],
  ['PUT', '/templates'],
  ['DELETE', '/ui-libraries'],
  ['PATCH', '/exports?r=site'],
  ['POST', '/healthz'],
  ['PUT', '/graphql'],
  ['DELETE', '/graphql'],
]

/** What follows `/exports` if there is no reference. */
const NO_REFERENCES = ['', '?', '?r', '?r=', '?R=site', '?ref=site', '?%20r=site', '?r=&r=site']

const UNKNOWN_REFERENCES: readonly (readonly [what: string, ref: string])[] = [
  ['of another user', 'secret'],
  ['of nobody', 'nowhere'],
  ['in another case', 'SITE'],
  ['with a space around it', ' site'],
  ['with a NUL after it', 'site\u0000'],
  ['that is a wildcard', '%'],
  ['that is SQL', "site' or '1'='1"],
  ['that is a path', '../ben/secret'],
  ['that is a number', '9'.repeat(400)],
  ['in another script', 'ѕite'],
  ['of half a character', '\ud83d'],
  ['that is very long', 'r'.repeat(8_000)],
]

const signedIn = ({ ana }: World) => bearer(ana.accessToken)

export const PLACES: Scenarios = {
  'an unknown path is 404': UNKNOWN_PATHS.map(
    (path): Scenario => ({
      name: `GET ${path}`,
      rest: (world): BadRequest => ({ method: 'GET', path, headers: signedIn(world) }),
      status: 404,
      code: 'NOT_FOUND',
      hasNot: [path],
    }),
  ),
  'a method that a path does not have is 405': WRONG_METHODS.map(
    ([method, path]): Scenario => ({
      name: `${method} ${path}`,
      rest: (world): BadRequest => ({ method, path, headers: signedIn(world) }),
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
    }),
  ),
  'an export needs a reference': NO_REFERENCES.map(
    (search): Scenario => ({
      name: `an export of no project (/exports${search})`,
      rest: (world): BadRequest => ({ method: 'GET', path: `/exports${search}`, headers: signedIn(world) }),
      graphql: ({ ana }) => operation(EXPORT_TWIN, { accessToken: ana.accessToken }),
      status: 400,
      code: 'MISSING_PARAMETER',
      graphqlCode: 'GRAPHQL_VALIDATION_FAILED',
    }),
  ),
  'an export needs a project of the user’s own that has exports': [
    ...UNKNOWN_REFERENCES.map(
      ([what, ref]): Scenario => ({
        name: `an export by a reference ${what}`,
        rest: (world): BadRequest => ({
          method: 'GET',
          path: `/exports?${new URLSearchParams({ r: ref })}`,
          headers: signedIn(world),
        }),
        graphql: ({ ana }) => operation(EXPORT_TWIN, { accessToken: ana.accessToken, variables: { r: ref } }),
        status: 404,
        code: 'NO_PROJECT',
        graphqlStatus: 200,
      }),
    ),
    {
      name: 'an export of a project that has none',
      rest: (world): BadRequest => ({ method: 'GET', path: '/exports?r=app', headers: signedIn(world) }),
      graphql: ({ ana }) => operation(EXPORT_TWIN, { accessToken: ana.accessToken, variables: { r: 'app' } }),
      status: 404,
      code: 'NO_EXPORT',
      graphqlStatus: 200,
    },
  ],
  'a login needs an email': BAD_EMAILS.map(
    ([why, email]): Scenario => ({
      name: `an email that is refused for ${why}`,
      rest: { method: 'POST', path: '/login', headers: JSON_TYPE, body: JSON.stringify({ email }) },
      graphql: operation(LOGIN_TWIN, { variables: { email } }),
      status: 400,
      code: 'INVALID_EMAIL',
    }),
  ),
}
