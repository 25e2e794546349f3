// What graphql-js answers over the plain objects, and whether a response says the same.
//
// Data is compared as a whole, and errors in order, with path, code and locations. The specification (section 6.4.4)
// leaves their order to timing, and also which error is reported if several non-null fields of one object fail. The
// gateway promises those of an execution with synchronous resolvers, like this one.
import { readFileSync } from 'node:fs'
import {
  buildSchema,
  executeSync,
  GraphQLError,
  type GraphQLSchema,
  parse,
  type SourceLocation,
  validate,
} from 'graphql'
import type { ModelUser } from './model.ts'
import { type ModelContext, ModelFailure, resolveField } from './model-resolvers.ts'
import { type ResponseError, readResponse, requireSameData } from './response-text.ts'

export interface Operation {
  readonly document: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
  /** Whether the document may be invalid. */
  readonly isBroken: boolean
}

interface Failure {
  readonly code: string | undefined
  readonly path: readonly (string | number)[] | undefined
  readonly locations: readonly SourceLocation[] | undefined
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

/** Failures of the document. GraphQL over HTTP gives them status 200 if the media type does not tell them apart. */
const OF_DOCUMENT = new Set(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'OPERATION_NOT_FOUND'])
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
    answer(operation, viewer) {
      const mistakes = operation.isBroken ? mistakesIn(operation, schema) : []
      if (mistakes.length > 0) return { data: undefined, failures: mistakes }
      const contextValue: ModelContext = { viewer, hasGlobalIds }
      const { data, errors = [] } = executeSync({
        schema,
        document: parse(operation.document),
        operationName: operation.operationName,
        variableValues: operation.variables,
        contextValue,
        fieldResolver: resolveField,
      })
      return { data, failures: errors.map(toFailure) }
    },
  }
}

/** The limits of the gateway: selections of nothing are syntax errors, and validation ends after ten errors. */
function mistakesIn({ document }: Operation, schema: GraphQLSchema): readonly Failure[] {
  try {
    const parsed = parse(document, { allowEmptySelectionSets: false })
    return validate(schema, parsed, undefined, { maxErrors: 10 }).map(toFailure)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    return [{ ...toFailure(error), code: 'GRAPHQL_PARSE_FAILED' }]
  }
}

function toFailure(error: GraphQLError): Failure {
  const { originalError, path, locations } = error
  if (originalError instanceof ModelFailure) return { code: originalError.code, path, locations }
  // A mistake of the model is not an answer.
  if (originalError && !(originalError instanceof GraphQLError)) throw originalError
  const isUnknownOperation = /^Unknown operation named|^Must provide operation name/.test(error.message)
  return { code: isUnknownOperation ? 'OPERATION_NOT_FOUND' : 'GRAPHQL_VALIDATION_FAILED', path, locations }
}

/** The statuses a response may have in this media type. */
export function statusesOf({ data, failures }: Expected, mediaType: string): readonly number[] {
  // A failure that empties all of `data` ends the execution, so it is the last one.
  const failure = data === null ? failures.at(-1) : failures[0]
  // A partial answer is an answer, whatever failed.
  if (!failure || (data !== null && data !== undefined)) return [200]
  const { code = '' } = failure
  if (OF_DOCUMENT.has(code)) return mediaType === 'application/json' ? [200] : [400]
  return [STATUSES[code] ?? 400]
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
  requireSameErrors(expected.failures, errors)
}

function requireSameErrors(failures: readonly Failure[], errors: readonly ResponseError[]): void {
  const [wanted, got] = [
    failures,
    errors.map(({ path, locations, extensions }) => ({ code: extensions?.code, path, locations })),
  ].map((all) => all.map(toText).join(' '))
  if (got !== wanted) throw new Error(`expected the errors ${wanted || 'of none'}, got ${got || 'none'}`)
}

function toText({ code, path, locations }: Failure): string {
  return `${code} ${path?.join('.')} ${locations?.map(({ line, column }) => `${line}:${column}`)}`
}
