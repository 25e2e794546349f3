// Builds the named schemas of the OpenAPI document: documents and tokens from their GraphQL types, requests from the
// route table.
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

/** Fields of the GraphQL types that are about a document, not in it. */
const NOT_IN_DOCUMENTS = ['id', 'data', 'cursor']
/** Fields that have another name in GraphQL than in the document. */
const MEMBER_NAMES: Readonly<Record<string, string>> = { documentId: 'id' }

const AS_STORED = 'A document is answered exactly as it was stored. It may have other members, and lack these.'
export const NOTHING_TO_SAY = 'Success; the answer has no members.'

/** JSON types that a member may have, by its GraphQL type. */
const MEMBER_TYPES: Readonly<Record<string, readonly string[]>> = {
  ID: ['string', 'integer', 'null'],
  Int: ['integer', 'null'],
  Float: ['number', 'null'],
  Boolean: ['boolean', 'null'],
}

/** Returns the schemas by their names in `components.schemas`. */
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

/** For example `LoginRequest` for `/login`. */
export function requestName({ path }: SessionRoute): string {
  return `${pathName(path)}Request`
}

export function resultName(route: SessionRoute, schema: GraphQLSchema): string {
  return resultType(route, schema)?.name ?? `${pathName(route.path)}Result`
}

/** Returns null when the answer is empty. */
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

/** Returns the descriptions of all arguments that the operation's fields accept, including those it does not use. */
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

/** Returns the type that the last field of an operation belongs to. */
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

/** Returns the type of the stored documents that a twin answers: for a type with elements, the type of an element. */
export function documentType(twin: string, schema: GraphQLSchema): GraphQLObjectType | null {
  const type = lastParent(twin, schema)
  const elements = type?.getFields().elements
  const element = elements && getNamedType(elements.type)
  return isObjectType(element) ? element : type
}

/** Describes the members that documents usually have. None is required: documents are the user's own. */
function documentSchema(type: GraphQLObjectType): Json {
  return {
    description: `${firstParagraph(type.description ?? '')}\n\n${AS_STORED}`.trim(),
    properties: Object.fromEntries(
      documentFields(type).map(({ name, description, type: fieldType }) => [
        memberName(name),
        { ...memberSchema(fieldType), description: description ?? '' },
      ]),
    ),
    // JSON Schema implies this, but without it code generators make types that lack the other members.
    additionalProperties: true,
  }
}

/** Only the first paragraph is about the type; the others are about its fields in GraphQL. */
function firstParagraph(description: string): string {
  return description.split('\n\n', 1).join()
}

/** A member that is absent may also be null, and ids may be numbers (see the import). */
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
