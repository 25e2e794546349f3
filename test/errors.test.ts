// Errors: whether they cost a stack, and the reason of several at once.
import { expect, test } from 'vitest'
import { FAILURE_CODES, GatewayError, reasonOf, statusOf } from '../src/errors.ts'

test.each(FAILURE_CODES)(
  '%s says where it was made if it is the gateway’s fault, and costs no stack otherwise',
  (code) => {
    const limit = Error.stackTraceLimit
    const { stack = '' } = new GatewayError(code)
    expect(stack.includes('errors.test.ts')).toBe(statusOf(code) >= 500)
    expect(Error.stackTraceLimit).toBe(limit)
  },
)

test('the reason of an aggregate error joins the reasons of its errors, unless it has one of its own', () => {
  const failures = [new Error('refused'), 'timed out']
  expect(reasonOf(new AggregateError(failures))).toBe('refused; timed out')
  expect(reasonOf(new AggregateError(failures, 'nobody is there'))).toBe('nobody is there')
})
