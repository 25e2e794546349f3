// The rules of graphql-eslint's `schema-recommended` and `relay` that a schema can break although it builds. The plugin itself
// would bring ESLint, a second `graphql` and 87 MB.
import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  parse,
  validateSchema,
  visit,
} from 'graphql'
import { expect, test } from 'vitest'
import { FAILURE_CODES, type FailureCode } from '../src/errors.ts'
import { createSchema } from '../src/graphql/schema.ts'

const SOURCE = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8')

/** Types that are answers, not things: they have no identity. */
const WITHOUT_ID = /^(?:Query|Mutation|PageInfo|Tokens|AccessToken|\w+Connection|\w+Edge)$/
/** Names that the REST contract prescribes. */
const CONTRACT_NAMES = ['AccessToken.accessToken']

/** Codes of REST, of the import, and of requests that never reach GraphQL. */
const CODES_ELSEWHERE: readonly FailureCode[] = [
  'MISSING_PARAMETER',
  'FORBIDDEN',
  'NOT_FOUND',
  'NO_WORKSPACE',
  'REQUEST_TIMEOUT',
  'ROUTE_RETIRED',
  'PRECONDITION_FAILED',
  'HEADERS_TOO_LARGE',
  'ROUTE_BROWNOUT',
  'SHUTTING_DOWN',
]

const schema = createSchema()
const types: readonly GraphQLNamedType[] = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !(isScalarType(type) && isSpecifiedScalarType(type)),
)
const objects = types.filter(isObjectType)
const connections = objects.filter(({ name }) => name.endsWith('Connection'))
const edges = objects.filter(({ name }) => name.endsWith('Edge'))

function fieldType(type: GraphQLObjectType, field: string): string {
  return String(type.getFields()[field]?.type)
}

test('schema.graphql follows the rules of SDL, which are not checked at a start', () => {
  expect(validateSchema(buildSchema(SOURCE))).toEqual([])
})

test('everything that can have a description has one, as a block string', () => {
  const bare: string[] = []
  const inline: string[] = []
  visit(parse(SOURCE), {
    enter(node) {
      if (!/Definition$/.test(node.kind) || node.kind === 'SchemaDefinition' || !('name' in node)) return
      const name = `${node.kind} ${node.name?.value}`
      const description = 'description' in node ? node.description : undefined
      if (!description) bare.push(name)
      else if (!description.block) inline.push(name)
    },
  })
  expect([bare, inline]).toEqual([[], []])
})

test('names have the right case, and fields start neither with the name of their type nor with a verb', () => {
  const fields = types.flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).map((field) => ({ type: type.name, field }))
      : [],
  )
  expect(types.map(({ name }) => name).filter((name) => !/^[A-Z][a-zA-Z]*$/.test(name))).toEqual([])
  for (const { type, field } of fields) {
    const name = `${type}.${field.name}`
    expect(name).toMatch(/\.[a-z][a-zA-Z]*$/)
    for (const argument of field.args) expect(`${name}(${argument.name}:)`).toMatch(/\([a-z][a-zA-Z]*:\)$/)
    if (!CONTRACT_NAMES.includes(name))
      expect(field.name.toLowerCase().startsWith(type.toLowerCase()), name).toBe(false)
    if (type === 'Query') expect(field.name).not.toMatch(/^(?:query|get)|query$/i)
    if (type === 'Mutation') expect(field.name).not.toMatch(/^mutation|mutation$/i)
  }
})

test('every type that is a thing has `id: ID!` as its first field and implements Node', () => {
  const things = objects.filter(({ name }) => !WITHOUT_ID.test(name))
  expect(things.length).toBeGreaterThanOrEqual(6)
  for (const type of things) {
    expect(fieldType(type, 'id'), type.name).toBe('ID!')
    expect(Object.keys(type.getFields())[0], type.name).toBe('id')
    expect(type.getInterfaces().map(({ name }) => name)).toContain('Node')
  }
})

test('connections have edges, page info, and arguments for both directions', () => {
  expect(connections.length).toBeGreaterThanOrEqual(5)
  for (const type of connections) {
    const edge = type.name.replace(/Connection$/, 'Edge')
    expect(fieldType(type, 'edges')).toBe(`[${edge}!]!`)
    expect(fieldType(type, 'pageInfo')).toBe('PageInfo!')
  }
  const returning = objects.flatMap((type) =>
    Object.values(type.getFields()).filter((field) => getNamedType(field.type).name.endsWith('Connection')),
  )
  expect(returning).toHaveLength(connections.length)
  for (const { name, args, type } of returning) {
    const taken = Object.fromEntries(args.map((argument) => [argument.name, String(argument.type)]))
    expect(taken, name).toEqual({ first: 'Int', after: 'String', last: 'Int', before: 'String' })
    expect(isNonNullType(type), name).toBe(true)
  }
})

test('edges have a cursor and a node that is a Node, and each edge type belongs to a connection type', () => {
  expect(edges.map(({ name }) => name.replace(/Edge$/, 'Connection')).toSorted()).toEqual(
    connections.map(({ name }) => name).toSorted(),
  )
  for (const type of edges) {
    expect(fieldType(type, 'cursor')).toBe('String!')
    const node = getNullableType(type.getFields().node?.type)
    expect(isListType(node), type.name).toBe(false)
    expect(isObjectType(node) && node.getInterfaces().map(({ name }) => name)).toEqual(['Node'])
  }
})

test('PageInfo has exactly the fields of the specification', () => {
  const pageInfo = schema.getType('PageInfo')
  const fields = isObjectType(pageInfo) ? Object.values(pageInfo.getFields()) : []
  expect(Object.fromEntries(fields.map(({ name, type }) => [name, String(type)]))).toEqual({
    hasNextPage: 'Boolean!',
    hasPreviousPage: 'Boolean!',
    startCursor: 'String',
    endCursor: 'String',
  })
})

test('Relay can refetch: Query.node takes an id and returns a Node', () => {
  const { node, nodes } = schema.getQueryType()?.getFields() ?? {}
  expect([String(node?.type), node?.args.map(String), String(nodes?.type)]).toEqual([
    'Node',
    ['Query.node(id:)'],
    '[Node]!',
  ])
})

test('the descriptions of the root types and their fields name every code that GraphQL answers', () => {
  const described = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    type
      ? [type, ...Object.values(type.getFields()), ...Object.values(type.getFields()).flatMap(({ args }) => args)]
      : [],
  )
  const named = described.flatMap(({ description }) => [...(description ?? '').matchAll(/`([A-Z_]{5,})`/g)])
  const codes = new Set(named.map(([, code]) => code))
  expect([...codes].toSorted()).toEqual(FAILURE_CODES.filter((code) => !CODES_ELSEWHERE.includes(code)).toSorted())
})
