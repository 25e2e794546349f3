// The named schemas of the OpenAPI document: documents and tokens from the GraphQL types of the same things, requests from the rows.
import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { READ_ROUTES, SESSION_ROUTES, type SessionRoute } from '../routes.ts'
import type { Json } from './parts.ts'

/** Fields of the GraphQL types that are about a document rather than in it. */
const NOT_IN_DOCUMENTS = ['id', 'data', 'cursor']
/** What GraphQL calls otherwise than the document does. */
const MEMBER_NAMES: Readonly<Record<string, string>> = { documentId: 'id' }

const AS_STORED = 'A document is answered exactly as it was stored: it may have other members, and lack these.'
export const NOTHING_TO_SAY = 'Done; there is nothing to say.'

/** JSON types of what a member of a GraphQL type is read as. */
const MEMBER_TYPES: Readonly<Record<string, readonly string[]>> = {
  ID: ['string', 'integer', 'null'],
  Int: ['integer', 'null'],
  Float: ['number', 'null'],
  Boolean: ['boolean', 'null'],
}

/** By their names in `components.schemas`. */
export function namedSchemas(schema: GraphQLSchema): Json {
  const documents = READ_ROUTES.flatMap(({ twin }) => documentType(twin, schema) ?? [])
  return Object.fromEntries([
    ...documents.map((type) => [type.name, documentSchema(type)]),
    ...SESSION_ROUTES.flatMap((route) => [
      [requestName(route), requestSchema(route, schema)],
      [resultName(route, schema), resultSchema(resultType(route, schema))],
    ]),
  ])
}

export function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

/** `LoginRequest` of `/login`. */
export function requestName({ path }: SessionRoute): string {
  return `${pathName(path)}Request`
}

export function resultName(route: SessionRoute, schema: GraphQLSchema): string {
  return resultType(route, schema)?.name ?? `${pathName(route.path)}Result`
}

/** Null when there is nothing in the answer. */
export function resultType({ twin }: SessionRoute, schema: GraphQLSchema): GraphQLObjectType | null {
  const type = lastParent(twin, schema)
  return type === schema.getMutationType() ? null : type
}

function pathName(path: string): string {
  return path.charAt(1).toUpperCase() + path.slice('/x'.length)
}

function requestSchema({ field, optionalField, twin }: SessionRoute, schema: GraphQLSchema): Json {
  const fields = [field, ...(optionalField === undefined ? [] : [optionalField])]
  const descriptions = argumentDescriptions(twin, schema)
  return {
    type: 'object',
    required: [field],
    properties: Object.fromEntries(
      fields.map((name) => [name, { type: 'string', description: descriptions.get(name) ?? '' }]),
    ),
  }
}

/** Of all arguments that the fields of an operation take, also of those that it leaves out. */
function argumentDescriptions(twin: string, schema: GraphQLSchema): ReadonlyMap<string, string> {
  const info = new TypeInfo(schema)
  const descriptions = new Map<string, string>()
  visit(
    parse(twin),
    visitWithTypeInfo(info, {
      Field() {
        for (const { name, description } of info.getFieldDef()?.args ?? []) descriptions.set(name, description ?? '')
      },
    }),
  )
  return descriptions
}

function resultSchema(type: GraphQLObjectType | null): Json {
  const members = type ? Object.values(type.getFields()) : []
  return {
    type: 'object',
    description: type?.description ?? NOTHING_TO_SAY,
    required: members.map(({ name }) => name),
    properties: Object.fromEntries(members.map(({ name, description }) => [name, { type: 'string', description }])),
    additionalProperties: false,
  }
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
export function documentType(twin: string, schema: GraphQLSchema): GraphQLObjectType | null {
  const type = lastParent(twin, schema)
  const elements = type?.getFields().elements
  const element = elements && getNamedType(elements.type)
  return isObjectType(element) ? element : type
}

/** What documents usually have. Nothing is required: they are the user's own. */
function documentSchema(type: GraphQLObjectType): Json {
  return {
    description: `${firstParagraph(type.description ?? '')}\n\n${AS_STORED}`.trim(),
    properties: Object.fromEntries(
      documentFields(type).map(({ name, description, type: fieldType }) => [
        memberName(name),
        { ...memberSchema(fieldType), description: description ?? '' },
      ]),
    ),
  }
}

/** What the other paragraphs say of a type is about its fields in GraphQL. */
function firstParagraph(description: string): string {
  return description.split('\n\n', 1).join()
}

/** A member that a document lacks may also be null there; ids may be numbers (see the import). */
function memberSchema(type: GraphQLOutputType): Json {
  const inner = isNonNullType(type) ? type.ofType : type
  if (isListType(inner)) return { type: ['array', 'null'], items: memberSchema(inner.ofType) }
  return { type: MEMBER_TYPES[getNamedType(inner).name] ?? ['string', 'null'] }
}

function documentFields(type: GraphQLObjectType) {
  return Object.values(type.getFields()).filter(
    (field) => isLeafType(getNamedType(field.type)) && !NOT_IN_DOCUMENTS.includes(field.name),
  )
}

function memberName(field: string): string {
  return MEMBER_NAMES[field] ?? field
}

export function shownFields(example: Json, type: GraphQLObjectType): Json {
  const names = documentFields(type).map(({ name }) => memberName(name))
  return Object.fromEntries(Object.entries(example).filter(([name]) => names.includes(name)))
}
