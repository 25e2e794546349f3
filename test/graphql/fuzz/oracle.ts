// What graphql-js answers over the plain objects, and whether a response says the same.
//
// Data is compared as a whole. Errors are compared as sets: the order in which fields fail depends on timing, and if
// several non-null fields of one object fail, the specification (section 6.4.4) wants one error and leaves open which
// one. So errors are grouped by the place that became null because of them. A place that only one field can have
// emptied has that very error, path and code; a place that several fields can have emptied has errors of some of them,
// and of no other field.
import { readFileSync } from 'node:fs'
import { buildSchema, executeSync, GraphQLError, type GraphQLSchema, parse, print, visit } from 'graphql'
import type { ModelUser } from './model.ts'
import { type ModelContext, ModelFailure, RawText, resolveField } from './model-resolvers.ts'
import { type ResponseError, readResponse, requireSameData } from './response-text.ts'

export interface Operation {
  readonly document: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

interface Failure {
  readonly path: readonly (string | number)[]
  readonly code: string
}

export interface Expected {
  /** Undefined if the request itself is at fault. */
  readonly data: unknown
  readonly failures: readonly Failure[]
  /** The failures of every field that can fail, including those that another failure hides. */
  readonly possible: readonly Failure[]
}

export interface Oracle {
  readonly schema: GraphQLSchema
  readonly hasGlobalIds: boolean
  readonly answer: (operation: Operation, viewer: ModelUser | null) => Expected
}

const SCHEMA_FILE = new URL('../../../schema.graphql', import.meta.url)
/** Statuses of failures (schema.graphql and docs/api/errors.md). */
const STATUSES: Readonly<Record<string, number>> = { UNAUTHENTICATED: 401, NO_PROJECT: 404, NO_EXPORT: 404 }

export function createOracle(): Oracle {
  const source = readFileSync(SCHEMA_FILE, 'utf8')
  const schema = buildSchema(source)
  const nullable = buildSchema(withoutNonNull(source))
  const hasGlobalIds = schema.getType('Node') !== undefined

  function run(executed: GraphQLSchema, operation: Operation, viewer: ModelUser | null) {
    const contextValue: ModelContext = { viewer, hasGlobalIds }
    const { data, errors = [] } = executeSync({
      schema: executed,
      document: parse(operation.document),
      operationName: operation.operationName,
      variableValues: operation.variables,
      contextValue,
      fieldResolver: resolveField,
    })
    return { data, failures: errors.map(toFailure) }
  }

  return {
    schema,
    hasGlobalIds,
    answer(operation, viewer) {
      const { data, failures } = run(schema, operation, viewer)
      const possible = failures.length === 0 ? [] : run(nullable, operation, viewer).failures
      return { data, failures, possible }
    },
  }
}

/** The same types with every result nullable: with them, every field that can fail does. */
function withoutNonNull(source: string): string {
  return print(
    visit(parse(source), {
      InputValueDefinition: () => false,
      NonNullType: ({ type }) => type,
    }),
  )
}

function toFailure(error: GraphQLError): Failure {
  const { originalError, path = [] } = error
  if (originalError instanceof ModelFailure) return { path, code: originalError.code }
  // A mistake of the model is not an answer.
  if (originalError && !(originalError instanceof GraphQLError)) throw originalError
  const isUnknownOperation = /^Unknown operation named|^Must provide operation name/.test(error.message)
  return { path, code: isUnknownOperation ? 'OPERATION_NOT_FOUND' : 'GRAPHQL_VALIDATION_FAILED' }
}

/** The statuses a response may have in this media type. */
export function statusesOf({ data, failures }: Expected, mediaType: string): readonly number[] {
  // A failure that empties all of `data` ends the execution, so it is the last one.
  const failure = data === null ? failures.at(-1) : failures[0]
  // A partial answer is an answer, whatever failed.
  if (!failure || (data !== null && data !== undefined)) return [200]
  // GraphQL over HTTP gives faults of the document status 200 if the media type does not tell them apart.
  const isOfDocument = failure.code === 'GRAPHQL_VALIDATION_FAILED' || failure.code === 'OPERATION_NOT_FOUND'
  if (isOfDocument) return mediaType === 'application/json' ? [200] : [400]
  return [STATUSES[failure.code] ?? 400]
}

/** Throws when the response differs. */
export function requireSameResponse(expected: Expected, text: string): void {
  const { dataAt, errors } = readResponse(text)
  if (expected.data === undefined) {
    if (dataAt !== null) throw new Error(`there is data where the request is at fault: ${text.slice(0, 200)}`)
  } else {
    if (dataAt === null) throw new Error(`there is no data: ${text.slice(0, 200)}`)
    requireSameData(expected.data, text, dataAt)
  }
  requireSameErrors(expected, errors)
}

function requireSameErrors({ data, failures, possible }: Expected, errors: readonly ResponseError[]): void {
  const places = (all: readonly Failure[]) => Map.groupBy(all, ({ path }) => emptiedPlace(data, path))
  const actual = places(errors.map(({ path = [], extensions }) => ({ path, code: extensions?.code ?? 'no code' })))
  const [wanted, allowed] = [places(failures), places(possible)]
  const told = JSON.stringify(errors.map(({ path, extensions }) => [path, extensions?.code]))
  for (const place of new Set([...actual.keys(), ...wanted.keys()])) {
    const found = (actual.get(place) ?? []).map(toText)
    const expected = (wanted.get(place) ?? []).map(toText)
    const candidates = new Set([...expected, ...(allowed.get(place) ?? []).map(toText)])
    const isRight =
      candidates.size <= 1
        ? found.join() === expected.join()
        : found.length > 0 && new Set(found).size === found.length && found.every((one) => candidates.has(one))
    if (!isRight) {
      throw new Error(`errors at ${place || 'the top'}: expected ${[...candidates].join(' or ')}, got ${told}`)
    }
  }
}

function toText({ path, code }: Failure): string {
  return `${path.join('.')} ${code}`
}

/** The path to the first null on the way to the field that failed. */
function emptiedPlace(data: unknown, path: readonly (string | number)[]): string {
  let value = data
  let depth = 0
  while (depth < path.length && typeof value === 'object' && value !== null && !(value instanceof RawText)) {
    value = (value as Readonly<Record<string | number, unknown>>)[path[depth] ?? '']
    depth += 1
  }
  return path.slice(0, depth).join('.')
}
