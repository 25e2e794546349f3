// Converts an execution or a refusal to an HTTP response: status, headers, body, and whether it may be cached.
import { GatewayError, statusOf } from '../../errors.ts'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import { failureHeaders, type ReportFailure } from '../../http/problem-details.ts'
import { type GatewayResponse, type Headers, NO_STORE } from '../../http/response.ts'
import type { Execution } from '../execution/execute.ts'
import { encodeText, encodeWhole, lengthOf, type Text } from '../execution/text.ts'
import type { GraphQLFailure } from './graphql-errors.ts'
import { GRAPHQL_RESPONSE, type ResponseType } from './media-types.ts'
import { type WrittenErrors, writeErrors } from './written-errors.ts'

/** UTF-16 units. A longer response is streamed in parts and not cached. */
const MAX_WHOLE_LENGTH = 1_048_576
const PART_LENGTH = 131_072
/** Maximum number of entries in the refusal of a batch. Apollo's batch link sends at most 10 requests by default. */
const MAX_ENTRIES = 100
/** The headers of every answer, besides the media type. */
const HEADERS: Headers = { ...NO_STORE, vary: 'Accept, Authorization, Accept-Encoding' }

export interface MadeResponse {
  readonly response: GatewayResponse
  /** Whether the same request gets the same response as long as the workspace does not change. */
  readonly isRepeatable: boolean
}

/** A response without `data`, with one error for each thrown value; `thrown` may hold any values. */
export function toRefusal(thrown: readonly unknown[], type: ResponseType, report: ReportFailure): GatewayResponse {
  return toResponse(null, writeErrors(thrown, report), type).response
}

/**
 * A list with one entry for each request of the batch, and at least one. A client that gets fewer entries than it sent
 * requests reports only that mismatch to its user.
 */
export function toBatchRefusal(length: number, type: ResponseType, report: ReportFailure): GatewayResponse {
  const errors = writeErrors([new GatewayError('BATCHING_NOT_SUPPORTED')], report)
  const entry = toText(null, errors.text)
  const entries = Array.from({ length: Math.min(Math.max(length, 1), MAX_ENTRIES) }, () => entry)
  return { ...toResponse(null, errors, type).response, body: Buffer.from(`[${entries.join()}]`) }
}

export function toResponse(
  data: Execution['data'],
  errors: WrittenErrors,
  type: ResponseType,
  yieldTurn: YieldTurn = () => Promise.resolve(),
): MadeResponse {
  const failure = failureOf(data, errors)
  const status = statusFor(failure, type)
  return {
    response: {
      status,
      headers: {
        ...HEADERS,
        'content-type': `${type}; charset=utf-8`,
        ...(failure?.error ? failureHeaders(failure.error) : {}),
      },
      body: toBody(toText(data, errors.text), yieldTurn),
      derived: {},
      ...(failure ? { failureCode: failure.code } : {}),
    },
    isRepeatable: status === 200 && !errors.isOurFault,
  }
}

/**
 * The failure that left the response without data; null if there is data. If `data` is null it is the last error: no
 * error is reported after the one that made all of `data` null, and earlier errors only made smaller places null.
 */
function failureOf(data: Execution['data'], { first, last }: WrittenErrors): GraphQLFailure | null {
  if (data === null) return first
  return data === 'null' ? last : null
}

/**
 * A partial response is 200. Without data (absent or null) the status is that of the failure. If the document is at
 * fault, it is 400, or 200 with the older media type (GraphQL over HTTP, section 6.4).
 */
function statusFor(failure: GraphQLFailure | null, type: ResponseType): number {
  if (!failure) return 200
  if (failure.error) return statusOf(failure.error.code)
  return type === GRAPHQL_RESPONSE ? 400 : 200
}

/** Puts `errors` before `data`, so that readers notice them. */
function toText(data: Execution['data'], errors: Text | null): Text {
  const members: Text[] = []
  if (errors !== null) members.push('"errors":', errors)
  if (data !== null) members.push(errors === null ? '"data":' : ',"data":', data)
  const pieces: readonly Text[] = ['{', ...members, '}']
  return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : pieces
}

function toBody(text: Text, yieldTurn: YieldTurn): GatewayResponse['body'] {
  const whole = lengthOf(text) <= MAX_WHOLE_LENGTH ? encodeWhole(text) : null
  return whole ?? { [Symbol.asyncIterator]: () => encodeText(text, PART_LENGTH, yieldTurn) }
}
