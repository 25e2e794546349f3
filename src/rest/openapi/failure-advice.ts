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
  PERSISTED_QUERY_NOT_SUPPORTED: 'Send the whole document; clients do so automatically.',
  OPERATION_NOT_FOUND: 'Name an operation that the document has.',
  UNAUTHENTICATED: 'Sign in with `POST /login`, and send the access token as `Authorization: Bearer`.',
  INVALID_TOKEN: 'Renew the access token with `POST /token`. If that is refused too, sign in again.',
  FORBIDDEN: 'Ask the operator of the gateway for other credentials.',
  LOGIN_REFUSED: 'Ask the operator of the gateway how to sign in.',
  LOGIN_CODE_SENT: 'Send the code from the mail as `code`, with the same `email`.',
  READ_ONLY: 'Sign in and out at a gateway that accepts writes; this one only answers reads.',
  LOGIN_CODE_WRONG: 'Send only the email to get a new code.',
  NOT_FOUND: 'Compare the path with the API reference.',
  NO_WORKSPACE: 'Sign in as a user who has a workspace, or import one.',
  NO_PROJECT: 'Take the reference from `/projects`.',
  NO_EXPORT: 'Export the project first.',
  METHOD_NOT_ALLOWED: 'Use a method that `Allow` names.',
  NOT_ACCEPTABLE: 'Accept `application/json`, and a content coding that the gateway has, such as `identity`.',
  REQUEST_TIMEOUT: 'Send the request again without pausing in between.',
  ROUTE_RETIRED: 'Move to the GraphQL twin.',
  PRECONDITION_FAILED: 'Send the request without `If-Match` to get the current answer.',
  BODY_TOO_LARGE: 'Send less, or in several requests.',
  RESPONSE_TOO_LARGE: 'Ask for fewer items, or page with `first` and `after`.',
  UNSUPPORTED_MEDIA_TYPE: 'Send `Content-Type: application/json`, and no `Content-Encoding`.',
  TOO_MANY_REQUESTS: 'Wait as many seconds as `Retry-After` says.',
  HEADERS_TOO_LARGE: 'Send a shorter address (GraphQL: by POST), or fewer or shorter headers, such as cookies.',
  INTERNAL: 'Give the operator of the gateway the `requestId`: the log has it too.',
  ROUTE_BROWNOUT: 'Try again later, and move to the GraphQL twin.',
  SHUTTING_DOWN: 'Only `/readyz` answers this: send requests to another gateway.',
  UNAVAILABLE: 'Try again after as many seconds as `Retry-After` says, or after a few.',
}

export function adviceOn(code: FailureCode): string {
  return ADVICE[code]
}
