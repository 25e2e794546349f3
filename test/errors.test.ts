import { expect, test } from 'vitest'
import { FAILURE_CODES, GatewayError, reasonOf, statusOf } from '../src/errors.ts'

test.each(FAILURE_CODES)(
  '%s tells where it was made when it is our own fault, and costs no stack otherwise',
  (code) => {
    const limit = Error.stackTraceLimit
    const { stack = '' } = new GatewayError(code)
    expect(stack.includes('errors.test.ts')).toBe(statusOf(code) >= 500)
    expect(Error.stackTraceLimit).toBe(limit)
  },
)

test('the reason of several failures at once is that of each, unless they have one together', () => {
  const failures = [new Error('refused'), 'timed out']
  expect(reasonOf(new AggregateError(failures))).toBe('refused; timed out')
  expect(reasonOf(new AggregateError(failures, 'nobody is there'))).toBe('nobody is there')
})
