// Checks what a failure looks like from outside in both dialects, and what must never appear in one.
import { STATUS_CODES } from 'node:http'
import { expect } from 'vitest'
import { type FailureCode, isFailureCode } from '../../src/errors.ts'
import type { Answer } from './gateway.ts'

export interface ExpectedFailure {
  readonly status: number
  readonly code: FailureCode
  /** Values that were sent or are stored, and must appear neither in the body nor in the headers. */
  readonly hasNot: readonly string[]
}

/** Stacks, paths, SQL, and anything that looks like a token of this gateway. */
const NEVER = [
  'stack',
  'node_modules',
  'SQLITE',
  'sqlite',
  '/work',
  '/src/',
  'file:',
  'wgr_',
  'eyJ',
  /\bselect\b[^`]*\bfrom\b/i,
  /\.[cm]?[jt]s:\d/,
  /\n\s+at /,
]

/** A failure of REST (RFC 9457). */
export function expectProblem(answer: Answer, expected: ExpectedFailure): void {
  expect([answer.status, answer.text && answer.json().code], answer.text).toEqual([expected.status, expected.code])
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  // Requests that are not HTTP get these headers too.
  const { instance, requestId, ...problem } = answer.json()
  expect(requestId).toMatch(/./)
  expect(answer.headers.get('x-request-id')).toBe(requestId)
  expect(answer.headers.get('date')).toMatch(/ GMT$/)
  expect(problem).toEqual({
    type: expect.stringMatching(/./),
    title: STATUS_CODES[expected.status],
    status: expected.status,
    code: expected.code,
    detail: expect.stringMatching(/./),
  })
  expect(typeof instance).toBe(expected.status >= 500 ? 'string' : 'undefined')
  expectFailureHeaders(answer, expected.code)
  expectNothingLeaked(answer, expected.hasNot)
}

/**
 * A response as in section 7.1 of the GraphQL specification, whose first error is the failure; for a batch, a list of
 * them.
 */
export function expectGraphQLFailure(answer: Answer, expected: ExpectedFailure): void {
  const answered = answer.text && answer.json()
  expect(Array.isArray(answered), answer.text).toBe(expected.code === 'BATCHING_NOT_SUPPORTED')
  const responses = Array.isArray(answered) ? answered : [answered]
  expect(answer.headers.get('content-type')).toMatch(/^application\/(?:graphql-response\+)?json; charset=utf-8$/)
  expect(responses).not.toHaveLength(0)
  for (const response of responses) {
    expect([answer.status, response.errors?.[0]?.extensions?.code], answer.text).toEqual([
      expected.status,
      expected.code,
    ])
    expectErrorsOnly(response)
  }
  expectFailureHeaders(answer, expected.code)
  expectNothingLeaked(answer, expected.hasNot)
}

function expectErrorsOnly({ errors, data: _, ...more }: ReturnType<typeof JSON.parse>): void {
  expect(more).toEqual({})
  for (const { message, locations: __, path: ___, extensions, ...rest } of errors) {
    expect(message).toMatch(/./)
    expect(rest).toEqual({})
    expect(isFailureCode(extensions.code), extensions.code).toBe(true)
    expect(Object.keys(extensions).filter((name) => name !== 'code' && name !== 'instance')).toEqual([])
  }
}

/** RFC 6750 section 3: every 401 names the scheme and a realm, and an `error` only if a token was presented. */
function expectFailureHeaders({ status, headers }: Answer, code: FailureCode): void {
  expect(headers.get('api-version')).toBe('1.2')
  expect(headers.get('cache-control')).toBe('no-store')
  const challenge = headers.get('www-authenticate')
  if (status !== 401) expect(challenge).toBeNull()
  else if (code === 'UNAUTHENTICATED') expect(challenge).toBe('Bearer realm="workspace-gateway"')
  else expect(challenge).toBe('Bearer realm="workspace-gateway", error="invalid_token"')
}

export function expectNothingLeaked(answer: Answer, hasNot: readonly string[]): void {
  const shown = [...answer.headers].map(([name, value]) => `${name}: ${value}\n`).join('') + answer.text
  for (const forbidden of NEVER) {
    if (typeof forbidden === 'string') expect(shown, answer.text).not.toContain(forbidden)
    else expect(shown, answer.text).not.toMatch(forbidden)
  }
  for (const secret of hasNot) {
    // No matter how often the value was escaped on the way.
    expect(unescaped(shown), answer.text).not.toContain(unescaped(JSON.stringify(secret).slice(1, -1)))
  }
}

function unescaped(text: string): string {
  return text.replaceAll('\\', '')
}
