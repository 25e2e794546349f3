// What a caller can do about a failure: one sentence per code.
import type { FailureCode } from '../../errors.ts'

const ADVICE: Readonly<Record<FailureCode, string>> = {
  BAD_REQUEST: 'Check the method, the address and the headers.',
  MALFORMED_JSON: 'Send one JSON object in UTF-8.',
  INVALID_EMAIL: 'Send `{"email":"name@example.com"}`.',
  MISSING_PARAMETER: 'Add `?r=` with a reference that `/projects` lists.',
  INVALID_ARGUMENT: 'Change the argument that `detail` names.',
  GRAPHQL_PARSE_FAILED: 'Correct the document where `locations` points.',
  GRAPHQL_VALIDATION_FAILED: 'Correct the field, argument or type that the message names.',
  BATCHING_NOT_SUPPORTED: 'Send each operation as a request of its own.',
  INCREMENTAL_DELIVERY_NOT_SUPPORTED: 'Leave out `@defer` and `@stream`; page with `first` and `after`.',
  PERSISTED_QUERY_NOT_SUPPORTED: 'Send the whole document: clients do so by themselves.',
  OPERATION_NOT_FOUND: 'Name an operation that the document has.',
  UNAUTHENTICATED: 'Sign in with `POST /login`, and send the access token as `Authorization: Bearer`.',
  INVALID_TOKEN: 'Renew the access token with `POST /token`. Where that is refused too, sign in again.',
  FORBIDDEN: 'Ask whoever runs the gateway for other credentials.',
  LOGIN_REFUSED: 'Ask whoever runs the gateway how people sign in.',
  LOGIN_CODE_SENT: 'Send the code from the mailbox as `code`, beside the same `email`.',
  READ_ONLY: 'Sign in and out at a gateway that writes; reads go on here.',
  LOGIN_CODE_WRONG: 'Ask for another code, with the email alone.',
  NOT_FOUND: 'Compare the path with the reference.',
  NO_WORKSPACE: 'Sign in as somebody who has one, or have one imported.',
  NO_PROJECT: 'Take the reference from `/projects`.',
  NO_EXPORT: 'Export the project first.',
  METHOD_NOT_ALLOWED: 'Use a method that `Allow` names.',
  NOT_ACCEPTABLE: 'Accept `application/json`, and a content coding that the gateway has, such as `identity`.',
  REQUEST_TIMEOUT: 'Send the request again, without pauses in it.',
  ROUTE_RETIRED: 'Move to the GraphQL twin.',
  PRECONDITION_FAILED: 'Ask without `If-Match` for what is there now.',
  BODY_TOO_LARGE: 'Send less, or in several requests.',
  RESPONSE_TOO_LARGE: 'Ask for fewer items, or page with `first` and `after`.',
  UNSUPPORTED_MEDIA_TYPE: 'Send `Content-Type: application/json`, and no `Content-Encoding`.',
  TOO_MANY_REQUESTS: 'Wait as many seconds as `Retry-After` says.',
  HEADERS_TOO_LARGE: 'Send fewer or shorter headers, such as cookies.',
  INTERNAL: 'Tell whoever runs the gateway the `requestId`: the log has it.',
  ROUTE_BROWNOUT: 'Try again later, and move to the GraphQL twin.',
  UNAVAILABLE: 'Try again after the seconds that `Retry-After` says, or a few.',
}

export function adviceOn(code: FailureCode): string {
  return ADVICE[code]
}
