// Generates the REST contract as OpenAPI 3.1 from the route table, the table of failures and the GraphQL schema.
import type { GraphQLSchema } from 'graphql'
import { type FailureCode, messageOf, statusOf } from '../../errors.ts'
import { API_VERSION } from '../../http/response.ts'
import type { RetirementPlan } from '../retirement/plan.ts'
import { ANY_ROUTE_FAILURES, READ_ROUTES, type ReadRoute, SESSION_ROUTES, type SessionRoute } from '../routes.ts'
import { deprecationOf } from './deprecation.ts'
import { FAILURE_CODE, HEADERS, IF_MATCH, IF_NONE_MATCH, INTRODUCTION, type Json, PROBLEM } from './parts.ts'
import {
  documentType,
  NOTHING_TO_SAY,
  namedSchemas,
  reference,
  requestName,
  resultName,
  resultType,
  shownFields,
} from './schemas.ts'

export interface OpenApiOptions {
  readonly basePath: string
  /** Example documents by the name of their GraphQL type. */
  readonly examples: Readonly<Record<string, Json>>
  /** The routes that are being retired. */
  readonly retirement?: RetirementPlan | undefined
}

/** `origin` is scheme, host and port of the gateway as its callers see it; '' when unknown. */
export function serversAt(origin: string, basePath: string): readonly Json[] {
  return [{ url: origin + basePath || '/', description: 'This gateway' }]
}

export function createOpenApi(
  schema: GraphQLSchema,
  { basePath, examples, retirement = new Map() }: OpenApiOptions,
): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workspace Gateway',
      version: API_VERSION,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: serversAt('', basePath),
    tags: [
      { name: 'Workspace', description: "Reads of the signed-in user's workspace." },
      { name: 'Session', description: 'Sign-in, refresh and sign-out.' },
    ],
    paths: {
      ...byPath(READ_ROUTES, retirement, (route) => readOperation(route, schema, examples)),
      ...byPath(SESSION_ROUTES, retirement, (route) => sessionOperation(route, schema)),
    },
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The `accessToken` that `POST /login` returns.',
        },
      },
      headers: HEADERS,
      schemas: { ...namedSchemas(schema), FailureCode: FAILURE_CODE, Problem: PROBLEM },
    },
  }
}

function byPath<R extends ReadRoute | SessionRoute>(
  routes: readonly R[],
  retirement: RetirementPlan,
  operation: (route: R) => Json,
): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const described = { ...operation(route), ...deprecationOf(retirement.get(route.path)) }
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: described }
  }
  return paths
}

function readOperation(route: ReadRoute, schema: GraphQLSchema, examples: OpenApiOptions['examples']): Json {
  const type = documentType(route.twin, schema)
  const example = type && examples[type.name]
  const parameter = route.parameter && {
    name: route.parameter,
    in: 'query',
    required: true,
    description: "A project's reference.",
    schema: { type: 'string', minLength: 1 },
    ...(examples.Project?.ref === undefined ? {} : { example: examples.Project.ref }),
  }
  return {
    ...common(route, 'Workspace'),
    security: [{ accessToken: [] }],
    parameters: [...(parameter ? [parameter] : []), IF_MATCH, IF_NONE_MATCH],
    responses: {
      200: {
        description: 'A JSON array; every element is exactly as it was stored.',
        headers: headers('API-Version', 'ETag', ...(type?.name === 'ExportElement' ? ['Last-Modified'] : [])),
        content: {
          'application/json': {
            schema: { type: 'array', items: type ? reference(type.name) : {} },
            ...(example && type ? { example: [shownFields(example, type)] } : {}),
          },
        },
      },
      304: {
        description: 'Nothing has changed since the answer with this ETag.',
        headers: headers('API-Version', 'ETag'),
      },
      ...failureResponses(route.failures),
    },
  }
}

function sessionOperation(route: SessionRoute, schema: GraphQLSchema): Json {
  const type = resultType(route, schema)
  return {
    ...common(route, 'Session'),
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference(requestName(route)),
          example: { [route.field]: route.field === 'email' ? 'demo@example.com' : 'wgr_…' },
        },
      },
    },
    responses: {
      200: {
        description: type?.description ?? NOTHING_TO_SAY,
        headers: headers('API-Version'),
        content: {
          'application/json': {
            schema: reference(resultName(route, schema)),
          },
        },
      },
      ...failureResponses(route.failures),
    },
  }
}

function common({ method, path, summary, twin }: ReadRoute | SessionRoute, tag: string): Json {
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [tag],
    'x-graphql-operation': twin,
  }
}

/** Builds one response per status, which lists the codes with that status. */
function failureResponses(failures: readonly FailureCode[]): Json {
  const byStatus = Object.groupBy([...failures, ...ANY_ROUTE_FAILURES], (code) => String(statusOf(code)))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes = []]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${messageOf(code)}`).join(' '),
        headers: headers(
          'API-Version',
          'X-Request-Id',
          ...(status === '401' ? ['WWW-Authenticate'] : []),
          ...(status === '429' || status === '503' ? ['Retry-After'] : []),
          ...(status === '429' ? ['RateLimit', 'RateLimit-Policy'] : []),
        ),
        content: {
          'application/problem+json': {
            schema: {
              allOf: [
                reference('Problem'),
                { type: 'object', properties: { status: { const: Number(status) }, code: { enum: codes } } },
              ],
            },
          },
        },
      },
    ]),
  )
}

function headers(...names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
