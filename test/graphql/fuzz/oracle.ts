// What graphql-js answers over the plain objects, and whether a response says the same.
//
// Data is compared as a whole, and so are the paths and codes of the errors, in their order. The specification (section
// 6.4.4) leaves open which of several failures of one object is reported; the gateway promises those of graphql-js with
// synchronous resolvers, whichever read came back first.
import { readFileSync } from 'node:fs'
import { buildSchema, executeSync, GraphQLError, type GraphQLSchema, parse } from 'graphql'
import type { ModelUser } from './model.ts'
import { type ModelContext, ModelFailure, resolveField } from './model-resolvers.ts'
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
  const hasGlobalIds = schema.getType('Node') !== undefined

  return {
    schema,
    hasGlobalIds,
    answer({ document, operationName, variables }, viewer) {
      const contextValue: ModelContext = { viewer, hasGlobalIds }
      const { data, errors = [] } = executeSync({
        schema,
        document: parse(document),
        operationName,
        variableValues: variables,
        contextValue,
        fieldResolver: resolveField,
      })
      return { data, failures: errors.map(toFailure) }
    },
  }
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

/** Paths and codes in order. Messages are not compared: those of the model are its own. */
function requireSameErrors({ failures }: Expected, errors: readonly ResponseError[]): void {
  const found = errors.map(({ path = [], extensions }) => toText({ path, code: extensions?.code ?? 'no code' }))
  const wanted = failures.map(toText)
  if (found.join('\n') === wanted.join('\n')) return
  throw new Error(`expected the errors [${wanted.join(', ')}], got [${found.join(', ')}]`)
}

function toText({ path, code }: Failure): string {
  return `${path.join('.')} ${code}`
}
