// Which media type answers a request, for the Accept headers that clients really send and for some that none should send.
import { expect, test } from 'vitest'
import { RESPONSE_TYPES } from '../src/graphql/endpoint/media-types.ts'
import { createMediaTypeNegotiator } from '../src/http/negotiation/media-type.ts'

const JSON_TYPE = 'application/json'
const GRAPHQL_TYPE = 'application/graphql-response+json'
const negotiate = createMediaTypeNegotiator(RESPONSE_TYPES)

test.each([
  [undefined, JSON_TYPE],
  ['', JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['application/*', JSON_TYPE],
  ['application/graphql-response+json,application/json;q=0.9', GRAPHQL_TYPE],
  ['application/graphql-response+json, application/graphql+json, application/json, text/event-stream', GRAPHQL_TYPE],
  ['application/json, application/graphql-response+json', JSON_TYPE],
  ['application/json, text/plain, */*', JSON_TYPE],
  ['application/json;q=0.5, */*;q=0.8', GRAPHQL_TYPE],
  ['application/json;q=0, */*', GRAPHQL_TYPE],
  ['APPLICATION/JSON ; Q=0.4 , application/graphql-response+json ; q=0.5', GRAPHQL_TYPE],
  ['application/json; charset=utf-8', JSON_TYPE],
  ['text/html, */*;q=0.1', JSON_TYPE],
  ['text/html', null],
  ['text/html ,\tapplication/graphql-response+json\t;\tq=0.5', GRAPHQL_TYPE],
  ['application/json\xa0, application/graphql-response+json;q=0.5', GRAPHQL_TYPE],
  ['\xa0application/json', null],
  ['*/*;q=0', null],
  ['application/json;q=0, application/graphql-response+json;q=0.000', null],
  ['application/json;q=2, application/graphql-response+json', GRAPHQL_TYPE],
  // The default of Java's HttpURLConnection.
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', JSON_TYPE],
  ['*', JSON_TYPE],
  ['application/json;q=0, *;q=0.5', GRAPHQL_TYPE],
  ['*;q=0', null],
  ['application/json;q=.4, application/graphql-response+json;q=.5', GRAPHQL_TYPE],
  ['application/json;q=0.3333333, application/graphql-response+json;q=0.3333334', GRAPHQL_TYPE],
  ['application/json;q=., application/graphql-response+json;q=1.1', null],
  ['application/json;q=.0, application/graphql-response+json;q=-.5', null],
  // Only the first hundred media ranges are read, and the first hundred parts of one.
  [`${'x/y,'.repeat(99)}application/graphql-response+json`, GRAPHQL_TYPE],
  [`${'x/y,'.repeat(100)}application/graphql-response+json`, null],
  [`application/graphql-response+json${';a=b'.repeat(98)};q=0`, null],
  [`application/graphql-response+json${';a=b'.repeat(99)};q=0`, GRAPHQL_TYPE],
])('Accept: %s is answered with %s', (header, type) => {
  expect(negotiate(header)).toBe(type)
  // The first result may be cached.
  expect(negotiate(header)).toBe(type)
})

test.each([
  ['text/html, application/json', 'text/html'],
  ['text/*, application/*', 'application/json'],
  ['text/*, application/json', 'application/json'],
  ['text/*;q=0.9, application/*;q=0.8', 'text/html'],
])('a client orders media types by naming them, not by ranges: Accept: %s', (header, type) => {
  expect(createMediaTypeNegotiator(['application/json', 'text/html'])(header)).toBe(type)
})
