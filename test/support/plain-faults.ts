// Lists what a server of the contract can do wrong: switches of the plain server, each of which plants one fault.

export const PLAIN_FAULTS = {
  'login-lacks-refresh-token': 'POST /login answers no refreshToken',
  'login-is-201': 'POST /login answers 201',
  'login-needs-no-email': 'POST /login signs in whoever sends no email',
  'access-token-is-no-jwt': 'the access token is not a JWT',
  'token-is-201': 'POST /token answers 201',
  'token-takes-anything': 'POST /token answers an access token for any refresh token',
  'bad-refresh-token-is-400': 'POST /token and DELETE /logout answer 400 to a token nobody was given',
  'refresh-token-works-once': 'POST /token uses up the refresh token',
  'logout-ends-nothing': 'after DELETE /logout the refresh token is still accepted',
  'delete-loses-its-body': 'something on the way drops the body of a DELETE',
  'logout-is-204': 'DELETE /logout answers 204',
  'logout-takes-anything': 'DELETE /logout answers 200 to any refresh token',
  'logout-ends-all': 'DELETE /logout ends every session of the user',
  'reads-need-no-token': 'reads without Authorization are answered as the last user who signed in',
  'reads-take-forged-token': 'the signature of access tokens is not looked at',
  'reads-take-refresh-token': 'a refresh token is taken for an access token',
  'list-is-an-object': 'lists stand in an object',
  'list-is-html': 'lists are sent as text/html',
  'list-is-not-json': 'lists have a comma behind their last element',
  'list-is-not-utf8': 'lists are sent in UTF-16',
  'unknown-export-is-empty': 'GET /exports answers 200 and [] for a reference there is not',
  'error-shows-stack': 'errors show where in the program they were made',
  'head-is-404': 'HEAD is answered 404',
  'head-tells-another-length': 'HEAD tells a Content-Length that GET does not have',
  'not-modified-for-strangers': 'If-None-Match is looked at before Authorization',
} as const satisfies Record<string, string>

export type PlainFault = keyof typeof PLAIN_FAULTS
