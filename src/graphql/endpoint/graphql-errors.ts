// Converts failures to entries of `errors`: they have a code of the table, and no secrets or internals.
import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { toGatewayError } from '../../auth/to-gateway-error.ts'
import { type FailureCode, type GatewayError, isFailureCode, statusOf } from '../../errors.ts'
import { isRefusal } from '../../http/problem-details.ts'
import { retryExtensions } from '../../http/rate-limit-fields.ts'
import { excerpt, redact } from '../../redact.ts'
import { FieldFailure } from '../execution/collected-errors.ts'
import { type Place, placeOf } from '../execution/place.ts'
import type { IncidentOf } from './incidents.ts'

export interface GraphQLFailure {
  readonly entry: GraphQLFormattedError
  readonly code: FailureCode
  /** Null if the document itself is at fault: then the media type decides the HTTP status. */
  readonly error: GatewayError | null
}

/** Reports 5xx failures to the log. The entry names the id of the report as `instance`. */
export function toGraphQLFailure(thrown: unknown, incidentOf: IncidentOf): GraphQLFailure {
  if (thrown instanceof FieldFailure) return fromField(thrown, incidentOf)
  const located = thrown instanceof GraphQLError ? thrown : null
  const original = located ? located.originalError : thrown
  // graphql-js wraps its own error for a variable that does not fit its type.
  if (located && (!original || original instanceof GraphQLError)) return fromGraphQL(located, located)
  return fromThrown(original, located, incidentOf)
}

/** Computes the place itself: creating a GraphQLError costs as much as a read, and scans the whole document. */
function fromField(failure: FieldFailure, incidentOf: IncidentOf): GraphQLFailure {
  const { thrown } = failure
  const place = placeOf(failure)
  return thrown instanceof GraphQLError ? fromGraphQL(thrown, place) : fromThrown(thrown, place, incidentOf)
}

function fromGraphQL(error: GraphQLError, place: Place): GraphQLFailure {
  const code = documentCode(error)
  return { entry: toEntry(place, redact(withoutValues(excerpt(error.message))), { code }), code, error: null }
}

function fromThrown(thrown: unknown, place: Place | null, incidentOf: IncidentOf): GraphQLFailure {
  const error = toGatewayError(thrown)
  const instance = statusOf(error.code) >= 500 && !isRefusal(error) ? { instance: incidentOf(thrown) } : {}
  const extensions = { code: error.code, ...retryExtensions(error), ...instance }
  return { entry: toEntry(place, redact(excerpt(error.message)), extensions), code: error.code, error }
}

/** Keeps locations and path, so that clients see where in the document the failure is. */
function toEntry(
  place: Place | null,
  message: string,
  extensions: Readonly<Record<string, unknown>>,
): GraphQLFormattedError {
  return {
    message,
    ...(place?.locations ? { locations: place.locations } : {}),
    ...(place?.path ? { path: place.path } : {}),
    extensions: { ...extensions },
  }
}

function documentCode({ extensions: { code } }: GraphQLError): FailureCode {
  return isFailureCode(code) ? code : 'GRAPHQL_VALIDATION_FAILED'
}

/** Anchored at both ends, so that a quoted value can never match it. */
const NOT_PROVIDED =
  /^(Variable "\$\w+") has invalid value: Expected a value of non-null type ("[\w[\]!]+") to be provided\.$/

/** A null where the schema allows none, in a variable or in an argument. Also anchored at both ends. */
const NULL =
  /^(?:Variable "\$\w+"|Argument "(?:@|\w+\.)\w+\(\w+:\)") has invalid value(?: at (?:\[\d+\])+)?: Expected (?:value of|variable "\$\w+" provided to) non-null type "[\w[\]!]+" not to be null\.$/

/** Matches a reason that consists of words of the specification and the schema. A quoted value can only follow it. */
const EXPLAINED =
  /^Variable "\$\w+" has invalid value(?: at (?:\[\d+\])+)?: (?:Int|Float|String|Boolean|ID) cannot represent (?:(?:non-integer|non 32-bit signed integer|non numeric|a non string|a non boolean) )?value(?=: )/

/**
 * graphql-js quotes the values that it refuses, and a value may be a secret. Only the location of the value is kept.
 */
function withoutValues(message: string): string {
  if (NULL.test(message)) return message
  const [explained] = EXPLAINED.exec(message) ?? []
  if (explained !== undefined) return `${explained}.`
  const shown = message
    .replace(NOT_PROVIDED, '$1 of required type $2 was not provided.')
    .replace(/ (?:got|has) invalid value\b.*/s, ' got a value that is not of its type.')
    .replace(/(Unexpected|found) (String|BlockString|Name|Int|Float) .*/s, '$1 $2.')
  return upTo(upTo(shown, ' cannot represent ', ':'), 'Expected value of type ', ', found')
}

/** Cuts the message at the first `end` after `start`, because the quoted value follows there. */
function upTo(message: string, start: string, end: string): string {
  const at = message.indexOf(start)
  const endAt = at === -1 ? -1 : message.indexOf(end, at)
  return endAt === -1 ? message : `${message.slice(0, endAt)}.`
}
