// Shapes of requests around the document: bodies, parameters, headers.
import { documentRequest, type HostileRequest, type Outcome, type Shape, times } from './shape.ts'

const BAD_REQUEST: readonly Outcome[] = ['400 BAD_REQUEST']

function request(name: string, make: () => HostileRequest, ...outcomes: readonly Outcome[]): Shape {
  return { name, request: make, anonymous: outcomes, signedIn: outcomes }
}

export const REQUEST_SHAPES: readonly Shape[] = [
  request(
    'an operation name of 900,000 letters',
    () => documentRequest('query Q { __typename }', { operationName: 'x'.repeat(900_000) }),
    '400 OPERATION_NOT_FOUND',
    ...BAD_REQUEST,
  ),
  request(
    'extensions of 900,000 letters',
    () => documentRequest('{ __typename }', { extensions: { a: 'x'.repeat(900_000) } }),
    '200',
    ...BAD_REQUEST,
  ),
  request(
    '60,000 extensions',
    () =>
      documentRequest('{ __typename }', {
        extensions: Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`e${index}`, index])),
      }),
    '200',
    ...BAD_REQUEST,
  ),
  request(
    '60,000 variables nobody declares',
    () =>
      documentRequest('{ __typename }', {
        variables: Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`v${index}`, index])),
      }),
    '200',
    ...BAD_REQUEST,
  ),
  request(
    'a variable of 300,000 brackets',
    () => ({
      body: `{"query":"query($v: Int) { __typename }","variables":{"v":${'['.repeat(300_000)}${']'.repeat(300_000)}}}`,
    }),
    '400 GRAPHQL_VALIDATION_FAILED',
    '400 MALFORMED_JSON',
    ...BAD_REQUEST,
  ),
  request(
    'a number where a list of 200,000 is',
    () =>
      documentRequest('query($v: Int) { me { projects(first: $v) { ref } } }', {
        variables: { v: Array.from({ length: 200_000 }, () => 1) },
      }),
    '400 GRAPHQL_VALIDATION_FAILED',
  ),
  request('a body of 400,000 brackets', () => ({ body: '['.repeat(400_000) }), '400 MALFORMED_JSON'),
  request(
    'a body of one name 90,000 times',
    () => ({ body: `{${times(90_000, () => '"query":1', ',')}}` }),
    ...BAD_REQUEST,
  ),
  request(
    '60,000 members nobody knows',
    () => ({ body: `{"query":"{ __typename }",${times(60_000, (index) => `"m${index}":1`, ',')}}` }),
    '200',
  ),
  request(
    'a batch of 20,000',
    () => ({ body: `[${times(20_000, () => '{"query":"{ __typename }"}', ',')}]` }),
    '400 BATCHING_NOT_SUPPORTED',
    ...BAD_REQUEST,
  ),
  request(
    'a persisted query nobody stored',
    () => ({ body: JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } }) }),
    '200 PERSISTED_QUERY_NOT_SUPPORTED',
    '400 PERSISTED_QUERY_NOT_SUPPORTED',
    ...BAD_REQUEST,
  ),
  request('a body of 2 MB', () => documentRequest(`{ __typename } #${'x'.repeat(2_000_000)}`), '413 BODY_TOO_LARGE'),
  request(
    'a GET of 60,000 letters',
    () => ({ method: 'GET', path: `/graphql?query={${'a'.repeat(60_000)}}` }),
    '431 HEADERS_TOO_LARGE',
    '414',
    '431',
  ),
  request(
    'a GET of 14,000 letters',
    () => ({ method: 'GET', path: `/graphql?query={${'a'.repeat(14_000)}}` }),
    '400 GRAPHQL_PARSE_FAILED',
    '400 GRAPHQL_VALIDATION_FAILED',
  ),
  request(
    'a GET of 1,500 parameters',
    () => ({ method: 'GET', path: `/graphql?query={__typename}&${times(1_500, (index) => `p${index}=`, '&')}` }),
    '200',
    ...BAD_REQUEST,
  ),
  request(
    'an Accept of 900 ranges',
    () => ({
      ...documentRequest('{ __typename }'),
      headers: { accept: times(900, (index) => `a/b${index};q=0.1`, ',') },
    }),
    '406 NOT_ACCEPTABLE',
  ),
  request(
    'an Accept of spaces',
    () => ({ ...documentRequest('{ __typename }'), headers: { accept: `a/b${' ;'.repeat(6_000)}` } }),
    '406 NOT_ACCEPTABLE',
    '400 BAD_REQUEST',
  ),
  request(
    'an Accept-Encoding of 900 codings',
    () => ({
      ...documentRequest('{ __typename }'),
      headers: { 'accept-encoding': times(900, (index) => `c${index};q=0.1`, ',') },
    }),
    '200',
  ),
]
