// An execution as a response: its status by the result and the media type, its bytes, and what its errors reveal.
import { GraphQLError, parse, Source } from 'graphql'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/errors.ts'
import { GRAPHQL_RESPONSE, JSON_RESPONSE } from '../../../src/graphql/endpoint/media-types.ts'
import { toRefusal, toResponse } from '../../../src/graphql/endpoint/response.ts'
import { writeErrors } from '../../../src/graphql/endpoint/written-errors.ts'
import { FieldFailure } from '../../../src/graphql/execution/collected-errors.ts'
import type { Text } from '../../../src/graphql/execution/text.ts'
import type { GatewayResponse } from '../../../src/http/response.ts'

const UNAUTHENTICATED = new GatewayError('UNAUTHENTICATED')
const UNAVAILABLE = new GatewayError('UNAVAILABLE', { retryAfterSeconds: 7 })
const DOCUMENT = new GraphQLError('The document is wrong.')
const BUG = new Error('secret')
const MAX_WHOLE_LENGTH = 1_048_576

const wholeText = ({ body }: GatewayResponse) => Buffer.from(body as Uint8Array).toString()

function respond(
  data: Text | null,
  errors: readonly unknown[] = [],
  type: typeof JSON_RESPONSE | typeof GRAPHQL_RESPONSE = JSON_RESPONSE,
) {
  const reported: unknown[] = []
  const made = toResponse(
    data,
    writeErrors(errors, (error) => {
      reported.push(error)
      return `urn:uuid:${reported.length}`
    }),
    type,
  )
  return { ...made, reported }
}

describe('a response', () => {
  test.for<readonly [string, Text | null, readonly unknown[], number, number, string | undefined, boolean]>([
    ['an answer with all data', '{}', [], 200, 200, undefined, true],
    ['null without a failure', 'null', [], 200, 200, undefined, true],
    ['a partial answer after a fault of the client', '{"a":null}', [UNAUTHENTICATED], 200, 200, undefined, true],
    [
      'a partial answer after a fault of the gateway',
      '{"a":null}',
      [UNAUTHENTICATED, UNAVAILABLE],
      200,
      200,
      undefined,
      false,
    ],
    ['a partial answer after a bug', '{"a":null}', [BUG], 200, 200, undefined, false],
    ['a partial answer in pieces', ['{"a":', 'null', '}'], [UNAUTHENTICATED], 200, 200, undefined, true],
    ['null after one failure', 'null', [UNAUTHENTICATED], 401, 401, 'UNAUTHENTICATED', false],
    [
      'no data after two failures, of which the first counts',
      null,
      [UNAVAILABLE, UNAUTHENTICATED],
      503,
      503,
      'UNAVAILABLE',
      false,
    ],
    ['no data for an invalid document', null, [DOCUMENT], 200, 400, 'GRAPHQL_VALIDATION_FAILED', false],
    [
      'null after two failures, of which the last is about the document',
      'null',
      [BUG, DOCUMENT],
      200,
      400,
      'GRAPHQL_VALIDATION_FAILED',
      false,
    ],
    [
      'null after two failures, of which the last counts',
      'null',
      [UNAUTHENTICATED, UNAVAILABLE],
      503,
      503,
      'UNAVAILABLE',
      false,
    ],
  ])(
    'has the right status and failure code, and may be kept or not: %s',
    ([, data, errors, json, graphql, code, isKept]) => {
      const [older, newer] = [respond(data, errors), respond(data, errors, GRAPHQL_RESPONSE)]
      expect([older.response.status, newer.response.status]).toEqual([json, graphql])
      expect(newer.response.failureCode).toBe(code)
      expect(newer.isRepeatable).toBe(isKept)
      expect(older.response.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(newer.response.headers['content-type']).toBe('application/graphql-response+json; charset=utf-8')
    },
  )

  test('has headers that say how to go on only if there is no data; the error says in any case when to retry', () => {
    expect(respond(null, [UNAUTHENTICATED]).response.headers['www-authenticate']).toMatch(/^Bearer realm="[^"]+"$/)
    for (const errors of [[UNAVAILABLE], [UNAUTHENTICATED, UNAVAILABLE]]) {
      const { headers } = respond('null', errors).response
      expect([headers['retry-after'], headers['www-authenticate']]).toEqual(['7', undefined])
    }
    for (const data of ['{"a":null}', ['{"a":null}']]) {
      const { headers } = respond(data, [UNAVAILABLE, UNAUTHENTICATED]).response
      expect(Object.keys(headers).toSorted()).toEqual(['cache-control', 'content-type', 'vary'])
    }
    for (const data of [null, 'null', '{"a":null}']) {
      const { errors } = JSON.parse(wholeText(respond(data, [UNAVAILABLE, UNAUTHENTICATED]).response))
      expect(errors.map(({ extensions }: { extensions: object }) => extensions)).toEqual([
        { code: 'UNAVAILABLE', retryAfterSeconds: 7 },
        { code: 'UNAUTHENTICATED' },
      ])
    }
  })
})

describe('the body of a response', () => {
  test('has data, errors, or both, with the errors first', () => {
    expect(wholeText(respond('{"a":1}').response)).toBe('{"data":{"a":1}}')
    expect(wholeText(respond(['{"a":', Buffer.from('1'), '}']).response)).toBe('{"data":{"a":1}}')
    const { code, message } = UNAUTHENTICATED
    const error = JSON.stringify({ message, extensions: { code } })
    expect(wholeText(respond('{"a":null}', [UNAUTHENTICATED]).response)).toBe(`{"errors":[${error}],"data":{"a":null}}`)
    expect(wholeText(toRefusal([UNAUTHENTICATED, UNAUTHENTICATED], JSON_RESPONSE, () => {}))).toBe(
      `{"errors":[${error},${error}]}`,
    )
  })

  test('is sent whole up to a mebibyte, and in parts if it is longer', async () => {
    const frame = '{"data":}'.length
    const most = 'x'.repeat(MAX_WHOLE_LENGTH - frame)
    expect(wholeText(respond(most).response)).toBe(`{"data":${most}}`)
    const { body } = respond(`${most}x`).response
    const parts: number[] = []
    for await (const part of body as AsyncIterable<Uint8Array>) parts.push(part.byteLength)
    expect(parts).toEqual([...Array.from({ length: 8 }, () => 131_072), 1])
  })

  test('is sent as a stream if a part of it is one', async () => {
    const stream = {
      byteLength: 1,
      async *chunks() {
        yield Buffer.from('1')
      },
    }
    const { body } = respond(['{"a":', stream, '}']).response
    const parts: string[] = []
    for await (const part of body as AsyncIterable<Uint8Array>) parts.push(Buffer.from(part).toString())
    expect(parts.join('')).toBe('{"data":{"a":1}}')
  })
})

describe('an error', () => {
  const told = (thrown: unknown) => {
    const { response, reported } = respond(null, [thrown])
    const [entry] = JSON.parse(wholeText(response)).errors
    return { ...entry, reported }
  }

  test('names the place in the answer and in the document where a field failed', () => {
    const [definition] = parse('{\n  a }').definitions
    const node = definition?.kind === 'OperationDefinition' ? definition.selectionSet.selections[0] : undefined
    if (node?.kind !== 'Field') throw new Error('no field')
    const path = { parent: { parent: null, key: 'list', order: 0 }, key: 3, order: 3 }
    const place = { locations: [{ line: 2, column: 3 }], path: ['list', 3] }
    expect(told(new FieldFailure(UNAUTHENTICATED, [node], path))).toEqual({
      message: UNAUTHENTICATED.message,
      ...place,
      extensions: { code: 'UNAUTHENTICATED' },
      reported: [],
    })
    expect(told(new FieldFailure(new GraphQLError('It does not fit.'), [node], path))).toMatchObject({
      message: 'It does not fit.',
      ...place,
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    })
  })

  test('reveals nothing of an internal failure but the id of its line in the log', () => {
    const failure = new FieldFailure('a text that was thrown', [], null)
    for (const [thrown, cause] of [
      [BUG, BUG],
      [failure, 'a text that was thrown'],
      [new GraphQLError('secret', { originalError: BUG }), BUG],
    ] as const) {
      const { message, extensions, reported } = told(thrown)
      expect(message).toBe('Something went wrong on our side.')
      expect(extensions).toEqual({ code: 'INTERNAL', instance: expect.stringMatching(/^urn:uuid:/) })
      expect(reported).toEqual([cause])
    }
  })

  test('has no id to look up if the refusal was deliberate, unless another error caused it', () => {
    const refusals = [new GatewayError('UNAVAILABLE'), UNAUTHENTICATED, new GatewayError('ROUTE_BROWNOUT')]
    for (const thrown of refusals) {
      const { extensions, reported } = told(thrown)
      expect(extensions).toEqual({ code: thrown.code })
      expect(reported).toEqual([])
    }
    const failed = told(new GatewayError('UNAVAILABLE', { cause: BUG }))
    expect(failed.extensions.instance).toMatch(/^urn:uuid:/)
  })

  test.for([
    ['Int cannot represent non-integer value: "secret"', 'Int cannot represent non-integer value.'],
    ['Variable "$a" got invalid value "secret"; at x', 'Variable "$a" got a value that is not of its type.'],
    ['Variable "$a" has invalid value "secret"', 'Variable "$a" got a value that is not of its type.'],
    [
      'Variable "$a" has invalid value: Expected a value of non-null type "[A!]!" to be provided.',
      'Variable "$a" of required type "[A!]!" was not provided.',
    ],
    [
      'Variable "$a" has invalid value: Int cannot represent "secret: Expected a value of non-null type "A" to be provided.',
      'Variable "$a" got a value that is not of its type.',
    ],
    [
      'Variable "$a" has invalid value: Expected a value of non-null type "A" to be provided."secret"',
      'Variable "$a" got a value that is not of its type.',
    ],
    [
      'Variable "$a" has invalid value: Int cannot represent non-integer value: "secret value: secret"',
      'Variable "$a" has invalid value: Int cannot represent non-integer value.',
    ],
    [
      'Variable "$a" has invalid value at [0][12]: ID cannot represent value: { secret: 1 }',
      'Variable "$a" has invalid value at [0][12]: ID cannot represent value.',
    ],
    [
      'Variable "$a" has invalid value: Int cannot represent secret value: 1',
      'Variable "$a" got a value that is not of its type.',
    ],
    [
      'Variable "$a" has invalid value at .secret: Int cannot represent non-integer value: 1',
      'Variable "$a" got a value that is not of its type.',
    ],
    [
      'Variable "$a" has invalid value: Expected value of non-null type "[ID!]!" not to be null."secret"',
      'Variable "$a" got a value that is not of its type.',
    ],
    [
      'Argument "A.b(c:)" has invalid value: Expected variable "$a" provided to non-null type "[A!]!" not to be null."secret"',
      'Argument "A.b(c:)" got a value that is not of its type.',
    ],
    [
      'Argument "@a(b:)" has invalid value "secret": Expected variable "$a" provided to non-null type "A!" not to be null.',
      'Argument "@a(b:)" got a value that is not of its type.',
    ],
    ['Syntax Error: Unexpected String "secret".', 'Syntax Error: Unexpected String.'],
    ['Syntax Error: Unexpected Name "secret".', 'Syntax Error: Unexpected Name.'],
    ['Syntax Error: Expected Name, found String "secret".', 'Syntax Error: Expected Name, found String.'],
    ['Syntax Error: Expected ":", found Name "secret".', 'Syntax Error: Expected ":", found Name.'],
    ['Syntax Error: Expected Name, found <EOF>.', 'Syntax Error: Expected Name, found <EOF>.'],
    ['Expected value of type "A", found "secret"', 'Expected value of type "A".'],
    ['Cannot query field "a" on type "B".', 'Cannot query field "a" on type "B".'],
    ['It is: so, found here.', 'It is: so, found here.'],
  ] as const)('does not contain a value that the client sent: %s', ([message, shown]) => {
    expect(told(new GraphQLError(message)).message).toBe(shown)
  })

  test('keeps a code of the gateway, replaces any other code, and has the location in the document', () => {
    const coded = (code: string) => told(new GraphQLError('No.', { extensions: { code } })).extensions.code
    expect([coded('GRAPHQL_PARSE_FAILED'), coded('SOME_OTHER')]).toEqual([
      'GRAPHQL_PARSE_FAILED',
      'GRAPHQL_VALIDATION_FAILED',
    ])
    const source = new Source('{ a }')
    expect(told(new GraphQLError('No.', { source, positions: [2] })).locations).toEqual([{ line: 1, column: 3 }])
  })
})
