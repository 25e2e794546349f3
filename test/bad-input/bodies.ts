// Bodies that a session call does not accept, on every session call.
import { gzipSync } from 'node:zlib'
import type { FailureCode } from '../../src/errors.ts'
import { SESSION_ROUTES, type SessionRoute } from '../../src/rest/routes.ts'
import { ANA } from '../support/workspaces.ts'
import {
  type BadRequest,
  BODY_LIMIT_BYTES,
  graphqlBody,
  JSON_TYPE,
  operation,
  type Scenario,
  type Scenarios,
} from './scenario.ts'

const NOT_JSON: readonly (readonly [what: string, body: string | Uint8Array])[] = [
  ['white space', ' \r\n\t'],
  ['an object that is not closed', `{"email":"${ANA}"`],
  ['text after the object', `{"email":"${ANA}"} ${ANA}`],
  ['single quotes', `{'email':'${ANA}'}`],
  ['names without quotes', `{email:"${ANA}"}`],
  ['a trailing comma', `{"email":"${ANA}",}`],
  ['a comment', `{"email":"${ANA}" /* ${ANA} */}`],
  ['a line break in a string', `{"email":"${ANA}\n"}`],
  ['NaN', '{"email":NaN}'],
  ['a form', `email=${encodeURIComponent(ANA)}`],
  ['plain text', ANA],
  ['UTF-8 that breaks off', bytes('{"email":"ana', 0xc3, '"}')],
  ['a byte that UTF-8 never has', bytes('{"email":"ana', 0xff, '@example.com"}')],
  ['an overlong encoding', bytes('{"email":"ana', 0xc0, 0xaf, '@example.com"}')],
  ['an encoded surrogate', bytes('{"email":"ana', 0xed, 0xa0, 0x80, '@example.com"}')],
  ['Latin-1', Buffer.from('{"email":"anä@example.com"}', 'latin1')],
  ['UTF-16', Buffer.from(`{"email":"${ANA}"}`, 'utf16le')],
]

const NOT_AN_OBJECT: readonly (readonly [what: string, body: string])[] = [
  ['an array', JSON.stringify([{ email: ANA, refreshToken: ANA }])],
  ['an empty array', '[]'],
  ['a string', JSON.stringify(ANA)],
  ['a number', '8675309042'],
  ['true', 'true'],
  ['null', 'null'],
]

const NOT_A_STRING: readonly (readonly [what: string, value: unknown])[] = [
  ['a number', 8_675_309_042],
  ['an object', { email: ANA, toString: ANA }],
  ['an array', [ANA]],
  ['true', true],
  ['null', null],
  ['left out', undefined],
]

const NOT_JSON_TYPES = [
  undefined,
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/jsonp',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
  'application/json, text/plain',
] as const

export const BODIES: Scenarios = {
  ...Object.fromEntries(
    SESSION_ROUTES.map((route) => [`${route.method} ${route.path} and its twin refuse bodies`, scenariosOf(route)]),
  ),
  'POST /graphql refuses bodies': graphqlRequests(),
}

function scenariosOf(route: SessionRoute): readonly Scenario[] {
  const { method, path, field, twin } = route
  const to = (more: Omit<BadRequest, 'method' | 'path'>): BadRequest => ({ method, path, headers: JSON_TYPE, ...more })
  // By the contract, no token or one of another type is 401.
  const withoutField: { readonly status: number; readonly code: FailureCode } = route.requiresBody
    ? { status: 400, code: 'INVALID_EMAIL' }
    : { status: 401, code: 'UNAUTHENTICATED' }
  const nothing = route.requiresBody ? ({ status: 400, code: 'MALFORMED_JSON' } as const) : withoutField
  return [
    { name: 'no body', rest: to({ headers: {} }), ...nothing },
    { name: `no body but a media type`, rest: to({}), ...nothing },
    { name: `an empty body`, rest: to({ body: '' }), ...nothing },
    { name: `an empty body in chunks`, rest: to({ body: '', isChunked: true }), ...nothing },
    ...NOT_JSON.map(
      ([what, body]): Scenario => ({
        name: `${what}`,
        rest: to({ body }),
        status: 400,
        code: 'MALFORMED_JSON',
        hasNot: [ANA],
      }),
    ),
    ...NOT_AN_OBJECT.map(([what, body]): Scenario => ({ name: `${what}`, rest: to({ body }), ...withoutField })),
    ...NOT_A_STRING.map(
      ([what, value]): Scenario => ({
        name: `${field} as ${what}`,
        rest: to({ body: JSON.stringify({ [field]: value }) }),
        graphql: operation(twin, { variables: { [field]: value } }),
        ...withoutField,
        graphqlStatus: 400,
        graphqlCode: 'GRAPHQL_VALIDATION_FAILED',
      }),
    ),
    {
      name: `${field} as an array nested very deeply`,
      rest: to({ body: `{"${field}":${'['.repeat(7_000)}${']'.repeat(7_000)}}` }),
      graphql: graphqlBody(
        `{"query":${JSON.stringify(twin)},"variables":{"${field}":${'['.repeat(7_000)}${']'.repeat(7_000)}}}`,
      ),
      ...withoutField,
      graphqlStatus: 400,
      graphqlCode: 'GRAPHQL_VALIDATION_FAILED',
    },
    {
      name: `${field} in the prototype only`,
      rest: to({ body: `{"__proto__":{"${field}":"${ANA}"}}` }),
      ...withoutField,
    },
    {
      name: `an empty ${field}`,
      rest: to({ body: JSON.stringify({ [field]: '' }) }),
      graphql: operation(twin, { variables: { [field]: '' } }),
      ...withoutField,
    },
    ...(route.requiresJson
      ? NOT_JSON_TYPES.map(
          (type): Scenario => ({
            name: `${type ?? 'no media type'}`,
            rest: to({
              headers: type === undefined ? {} : { 'content-type': type },
              body: JSON.stringify({ [field]: ANA }),
            }),
            status: 415,
            code: 'UNSUPPORTED_MEDIA_TYPE',
          }),
        )
      : []),
    {
      name: `a compressed body`,
      rest: to({
        headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
        body: gzipSync(JSON.stringify({ [field]: ANA })),
      }),
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
      hasNot: [ANA],
    },
    {
      name: `a body over the limit`,
      rest: to({ body: JSON.stringify({ [field]: overLimit() }) }),
      graphql: operation(twin, { variables: { [field]: overLimit() } }),
      status: 413,
      code: 'BODY_TOO_LARGE',
    },
    {
      name: `a body over the limit in chunks`,
      rest: to({ body: JSON.stringify({ [field]: overLimit() }), isChunked: true }),
      graphql: { ...operation(twin, { variables: { [field]: overLimit() } }), isChunked: true },
      status: 413,
      code: 'BODY_TOO_LARGE',
    },
  ]
}

function graphqlRequests(): readonly Scenario[] {
  const malformed = { status: 400, code: 'MALFORMED_JSON', hasNot: [ANA] } as const
  const unsupported = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', hasNot: [ANA] } as const
  const body = JSON.stringify({ query: '{ __typename }', variables: { email: ANA } })
  return [
    {
      name: 'no body',
      graphql: { method: 'POST', path: '/graphql' },
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    },
    { name: `an empty body`, graphql: graphqlBody(''), ...malformed },
    ...NOT_JSON.map(([what, text]): Scenario => ({ name: `${what}`, graphql: graphqlBody(text), ...malformed })),
    ...NOT_AN_OBJECT.map(
      ([what, text]): Scenario => ({
        name: `${what}`,
        graphql: graphqlBody(text),
        status: 400,
        code: text.startsWith('[') ? 'BATCHING_NOT_SUPPORTED' : 'BAD_REQUEST',
      }),
    ),
    ...NOT_JSON_TYPES.map(
      (type): Scenario => ({
        name: `${type ?? 'no media type'}`,
        graphql: {
          method: 'POST',
          path: '/graphql',
          headers: type === undefined ? {} : { 'content-type': type },
          body,
        },
        ...unsupported,
      }),
    ),
    {
      name: `a compressed body`,
      graphql: graphqlBody(gzipSync(body), { 'content-encoding': 'gzip' }),
      ...unsupported,
    },
  ]
}

function bytes(...parts: readonly (string | number)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))))
}

function overLimit(): string {
  return 'a'.repeat(BODY_LIMIT_BYTES)
}
