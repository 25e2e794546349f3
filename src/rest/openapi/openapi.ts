// The REST contract as OpenAPI 3.1, made from the route table, the table of failures and the GraphQL schema.
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { type FailureCode, messageOf, statusOf } from '../../errors.ts'
import { createConstantDocument } from '../../http/caching/constant-document.ts'
import type { Endpoint } from '../../http/handler.ts'
import { JSON_TYPE } from '../../http/response.ts'
import { ANY_ROUTE_FAILURES, READ_ROUTES, type ReadRoute, SESSION_ROUTES, type SessionRoute } from '../routes.ts'
import { HEADERS, IF_NONE_MATCH, INTRODUCTION, type Json, PROBLEM } from './parts.ts'

export interface OpenApiOptions {
  readonly apiVersion: string
  readonly basePath: string
  /** A document to show for a GraphQL type, by its name. */
  readonly examples: Readonly<Record<string, Json>>
}

/** Fields of the GraphQL types that are about a document rather than in it. */
const NOT_IN_DOCUMENTS = ['id', 'data', 'cursor']
/** What GraphQL calls otherwise than the document does. */
const MEMBER_NAMES: Readonly<Record<string, string>> = { documentId: 'id' }

export function createOpenApiEndpoint(schema: GraphQLSchema, options: OpenApiOptions): Endpoint {
  return createConstantDocument('/openapi.json', JSON_TYPE, JSON.stringify(createOpenApi(schema, options)))
}

export function createOpenApi(schema: GraphQLSchema, { apiVersion, basePath, examples }: OpenApiOptions): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workspace Gateway',
      version: apiVersion,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath, description: 'This gateway' }],
    tags: [
      { name: 'Workspace', description: "Reads of the signed-in user's own." },
      { name: 'Session', description: 'Signing in, staying signed in, signing out.' },
    ],
    paths: {
      ...byPath(READ_ROUTES, (route) => readOperation(route, schema, examples)),
      ...byPath(SESSION_ROUTES, (route) => sessionOperation(route, schema)),
    },
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'What `POST /login` answers.',
        },
      },
      headers: HEADERS,
      schemas: { Problem: PROBLEM },
    },
  }
}

function byPath<R extends ReadRoute | SessionRoute>(routes: readonly R[], operation: (route: R) => Json): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
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
    parameters: [...(parameter ? [parameter] : []), IF_NONE_MATCH],
    responses: {
      200: {
        description: 'A JSON array, every element as it was stored.',
        headers: { ...headers('API-Version', 'ETag') },
        content: {
          'application/json': {
            schema: { type: 'array', items: type ? documentSchema(type) : {} },
            ...(example && type ? { example: [shownFields(example, type)] } : {}),
          },
        },
      },
      304: { description: 'Nothing has changed since the answer with this ETag.', headers: headers('ETag') },
      ...failureResponses(route.failures),
    },
  }
}

function sessionOperation(route: SessionRoute, schema: GraphQLSchema): Json {
  const type = lastParent(route.twin, schema)
  const members = type && type !== schema.getMutationType() ? Object.values(type.getFields()) : []
  return {
    ...common(route, 'Session'),
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: [route.field],
            properties: Object.fromEntries(
              [route.field, ...(route.optionalField === undefined ? [] : [route.optionalField])].map((name) => [
                name,
                { type: 'string' },
              ]),
            ),
          },
          example: { [route.field]: route.field === 'email' ? 'demo@example.com' : 'wgr_…' },
        },
      },
    },
    responses: {
      200: {
        description: members.length === 0 ? 'Done; there is nothing to say.' : (type?.description ?? 'Done.'),
        headers: headers('API-Version'),
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: members.map(({ name }) => name),
              properties: Object.fromEntries(
                members.map(({ name, description }) => [name, { type: 'string', description }]),
              ),
              additionalProperties: false,
            },
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

/** One response per status, which names the codes that have it. */
function failureResponses(failures: readonly FailureCode[]): Json {
  const byStatus = Object.groupBy([...failures, ...ANY_ROUTE_FAILURES], (code) => String(statusOf(code)))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes = []]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${messageOf(code)}`).join(' '),
        headers: headers(
          'API-Version',
          ...(status === '401' ? ['WWW-Authenticate'] : []),
          ...(status === '429' || status === '503' ? ['Retry-After'] : []),
          ...(status === '429' ? ['RateLimit', 'RateLimit-Policy'] : []),
        ),
        content: {
          'application/problem+json': {
            schema: {
              allOf: [
                { $ref: '#/components/schemas/Problem' },
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

/** The type that the last field of an operation belongs to. */
function lastParent(twin: string, schema: GraphQLSchema): GraphQLObjectType | null {
  const info = new TypeInfo(schema)
  let parent: GraphQLObjectType | null = null
  visit(
    parse(twin),
    visitWithTypeInfo(info, {
      Field() {
        const type = info.getParentType()
        if (isObjectType(type)) parent = type
      },
    }),
  )
  return parent
}

/** The type whose stored documents a twin answers: of what has elements, that of an element. */
function documentType(twin: string, schema: GraphQLSchema): GraphQLObjectType | null {
  const type = lastParent(twin, schema)
  const elements = type?.getFields().elements
  const element = elements && getNamedType(elements.type)
  return isObjectType(element) ? element : type
}

/** What documents usually have. Nothing is required, and nothing has a fixed type: they are the user's own. */
function documentSchema(type: GraphQLObjectType): Json {
  return {
    description: type.description,
    properties: Object.fromEntries(
      documentFields(type).map(({ name, description }) => [memberName(name), { description: description ?? '' }]),
    ),
  }
}

function documentFields(type: GraphQLObjectType) {
  return Object.values(type.getFields()).filter(
    (field) => isLeafType(getNamedType(field.type)) && !NOT_IN_DOCUMENTS.includes(field.name),
  )
}

function memberName(field: string): string {
  return MEMBER_NAMES[field] ?? field
}

function shownFields(example: Json, type: GraphQLObjectType): Json {
  const names = documentFields(type).map(({ name }) => memberName(name))
  return Object.fromEntries(Object.entries(example).filter(([name]) => names.includes(name)))
}
