// An execution, or a refusal, as a response: its status, its bytes, and whether it may be kept.
import { GatewayError, statusOf } from '../../errors.ts'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import { failureHeaders, type ReportFailure } from '../../http/problem-details.ts'
import { type GatewayResponse, GRAPHQL_HEADERS } from '../../http/response.ts'
import type { Execution } from '../execution/execute.ts'
import { encodeText, encodeWhole, lengthOf, type Text } from '../execution/text.ts'
import type { GraphQLFailure } from './graphql-errors.ts'
import { GRAPHQL_RESPONSE, type ResponseType } from './media-types.ts'
import { type WrittenErrors, writeErrors } from './written-errors.ts'

/** UTF-16 units. A longer answer is sent in parts, and not kept. */
const MAX_WHOLE_LENGTH = 1_048_576
const PART_LENGTH = 131_072
/** Of a batch that is refused: Apollo's link sends 10 requests at most, unless told otherwise. */
const MAX_ENTRIES = 100

export interface MadeResponse {
  readonly response: GatewayResponse
  /** Whether the same request is answered the same as long as the workspace does not change. */
  readonly isRepeatable: boolean
}

/** A whole answer or an error; `thrown` may be anything. */
export function toRefusal(thrown: readonly unknown[], type: ResponseType, report: ReportFailure): GatewayResponse {
  return toResponse(null, writeErrors(thrown, report), type).response
}

/**
 * A list with an entry for each request, whatever it is, one at least: a client that gets fewer than it sent tells its user nothing
 * but that.
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
        ...GRAPHQL_HEADERS,
        'content-type': `${type}; charset=utf-8`,
        ...(status !== 200 && failure?.error ? failureHeaders(failure.error) : {}),
      },
      body: toBody(toText(data, errors.text), yieldTurn),
      derived: {},
      ...(failure ? { failureCode: failure.code } : {}),
    },
    isRepeatable: status === 200 && !errors.isOurFault,
  }
}

/**
 * Why nothing was answered; null where something was. Where `data` is null it is the last error: none is reported that comes behind
 * the one that emptied all of it, and those before it made smaller places null.
 */
function failureOf(data: Execution['data'], { first, last }: WrittenErrors): GraphQLFailure | null {
  if (data === null) return first
  return data === 'null' ? last : null
}

/**
 * A partial answer is 200. Where nothing was answered (no data, or null) the status is the failure's own; for a document at
 * fault it is 400, or 200 in the older media type (GraphQL over HTTP, section 6.4).
 */
function statusFor(failure: GraphQLFailure | null, type: ResponseType): number {
  if (!failure) return 200
  if (failure.error) return statusOf(failure.error.code)
  return type === GRAPHQL_RESPONSE ? 400 : 200
}

/** The errors first: who reads sees them soon. */
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
