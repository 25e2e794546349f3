// How large a request may be, to the byte, and how long it may take.
import { describe, expect, test } from 'vitest'
import { createHttpServer } from '../../src/http/server/server.ts'
import { startGateway } from '../support/gateway.ts'
import { serverOptions } from '../support/server-options.ts'
import { exchange, readAnswers, requestText } from '../support/wire.ts'
import { ANA } from '../support/workspaces.ts'

const BODY = JSON.stringify({ email: ANA })
const HEADERS = [
  ['Content-Type', 'application/json'],
  ['Connection', 'close'],
] as const

function chunked(body: string): string {
  const headers = [...HEADERS, ['Transfer-Encoding', 'chunked'] as const]
  const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('')
  return requestText({ method: 'POST', target: '/login', headers, body: `${chunks}0\r\n\r\n` })
}

describe('a body', () => {
  test.each([
    ['of exactly the limit', BODY.length, 200],
    ['of a byte more', BODY.length - 1, 413],
  ])('%s, with its length and in chunks', async (_, bodyLimitBytes, status) => {
    const gateway = await startGateway({ bodyLimitBytes })
    const whole = requestText({ method: 'POST', target: '/login', headers: HEADERS, body: BODY })
    for (const request of [whole, chunked(BODY)]) {
      const [answer] = readAnswers(await exchange(gateway.url, request))
      expect(answer?.status).toBe(status)
    }
  })
})

test('headers may take ten seconds, a request thirty, and an idle connection outlives that of a balancer', () => {
  const server = createHttpServer(async () => ({ status: 200, headers: {}, body: '' }), serverOptions())
  expect([server.headersTimeout, server.requestTimeout]).toEqual([10_000, 30_000])
  expect(server.keepAliveTimeout).toBeGreaterThan(60_000)
})
