// conformance against answers that do not end: it gives each one up, reports it as a failed check, and checks the rest.
import type { ServerResponse } from 'node:http'
import { createBrotliCompress, createGzip, createZstdCompress, gzipSync, constants as zlib } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createExchange } from '../../src/conformance/exchange.ts'
import { createProbe } from '../../src/conformance/probe.ts'
import { run } from '../support/command-line.ts'
import { type ConformanceReport, conformance } from '../support/conformance.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const MIB = 1_048_576
const TOO_LARGE = 'the answer is larger than 256 MiB'
const JSON_TYPE = { 'content-type': 'application/json' }
/** More than the program accepts, and so little that a program that accepts all of it continues. */
const ENDLESS_BYTES = 512 * MIB
/** Hardly more than the program accepts. */
const BOMB_BYTES = 264 * MIB
const CODERS = { gzip: createGzip, br: createBrotliCompress, zstd: createZstdCompress } as const

const server = () => startPlainServer({ records: SMALL_WORLD })

test('conformance gives up an answer without an end', async () => {
  await using plain = await server()
  const piece = Buffer.alloc(MIB, ' ')
  let sent = 0
  plain.setIntercept(({ method, url }, response) => {
    if (method !== 'GET' || url !== '/templates' || sent > 0) return false
    response.on('error', () => {})
    response.writeHead(200, JSON_TYPE)
    const send = () => {
      sent += MIB
      if (sent >= ENDLESS_BYTES) response.end(piece)
      else response.write(piece, (error) => error ?? send())
    }
    send()
    return true
  })
  const { exitCode, checks } = await conformance(plain.url)
  const failed = checks.filter(({ outcome }) => outcome === 'fail')
  expect([exitCode, new Set(failed.map(({ group, found }) => `${group}: ${found}`))]).toEqual([
    1,
    new Set([`GET /templates: ${TOO_LARGE}`]),
  ])
  // No more is in flight than the buffers hold when the connection is closed.
  expect(sent).toBeLessThan(320 * MIB)
})

test('conformance reports an answer that switches to another protocol, and checks the rest', async () => {
  await using plain = await server()
  plain.setIntercept(({ method, url }, response) => {
    if (method !== 'GET' || url !== '/templates') return false
    response.socket?.end('HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    return true
  })
  const { exitCode, checks } = await conformance(plain.url)
  const failed = new Set(
    checks.filter(({ outcome }) => outcome === 'fail').map(({ group, found }) => `${group}: ${found}`),
  )
  expect([exitCode, failed]).toEqual([1, new Set(['GET /templates: there was no answer, or one that broke off'])])
})

/** `BOMB_BYTES` spaces in the content coding. */
async function bombOf(coding: keyof typeof CODERS): Promise<Buffer> {
  const coder = coding === 'br' ? CODERS.br({ params: { [zlib.BROTLI_PARAM_QUALITY]: 1 } }) : CODERS[coding]()
  const piece = Buffer.alloc(MIB, ' ')
  for (let left = BOMB_BYTES; left > 0; left -= MIB) coder.write(piece)
  coder.end()
  return Buffer.concat(await Array.fromAsync(coder))
}

test.each(Object.keys(CODERS) as (keyof typeof CODERS)[])(
  'conformance gives up a small answer in %s that is large when decoded',
  async (coding) => {
    const bomb = await bombOf(coding)
    expect(bomb.byteLength).toBeLessThan(MIB)
    await using plain = await server()
    plain.setIntercept(({ method, url }, response) => {
      if (method !== 'GET' || url !== '/templates') return false
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': coding }).end(bomb)
      return true
    })
    using exchange = createExchange(plain.url)
    await expect(exchange.send({ method: 'GET', path: '/templates' }, new AbortController().signal)).rejects.toThrow(
      `GET ${plain.url}/templates: ${TOO_LARGE}`,
    )
  },
)

test('conformance gives up a small answer that would fill its heap when parsed', async () => {
  const bomb = gzipSync(`[${'{},'.repeat(5_000_000)}{}]`)
  expect(bomb.byteLength).toBeLessThan(MIB)
  await using plain = await server()
  plain.setIntercept(({ method, url }, response) => {
    if (method !== 'GET' || url !== '/templates') return false
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(bomb)
    return true
  })
  const args = ['conformance', plain.url, '--email', ANA, '--format', 'json']
  const { exitCode, stdout } = await run(args, { env: { NODE_OPTIONS: '--max-old-space-size=200' } })
  expect(exitCode).toBe(1)
  const { checks } = JSON.parse(stdout) as ConformanceReport
  const failed = checks.filter(({ outcome }) => outcome === 'fail')
  expect(new Set(failed.map(({ group }) => group))).toEqual(new Set(['GET /templates']))
  for (const { found } of failed) expect(found).toMatch(/^the answer has more than \d+ JSON values$/)
})

test('conformance keeps only the beginnings of large error answers until the end', async () => {
  await using plain = await server()
  plain.setIntercept(({ url }, response) => {
    if (url !== '/no-such-path' && url !== '/templates') return false
    response.writeHead(404, JSON_TYPE).end('x'.repeat(8 * MIB))
    return true
  })
  const fields = { idFields: ['id'], refFields: ['ref'] }
  await using probe = createProbe(plain.url, { email: ANA, headers: {}, fields, stop: new AbortController().signal })
  await probe.send({ method: 'GET', path: '/no-such-path' })
  await probe.send({ method: 'GET', path: '/no-such-path' })
  const read = await probe.read('/templates')
  const kept = [read, ...probe.failures().map(({ answer }) => answer)]
  expect(kept.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  for (const { body } of kept) {
    expect(body.toString()).toMatch(/^x+$/)
    expect(body.buffer.byteLength).toBeLessThan(MIB)
  }
})

test('conformance gives up an answer that drips', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await using plain = await server()
  const began = Promise.withResolvers<ServerResponse>()
  plain.setIntercept((_request, response) => {
    response.on('error', () => {})
    response.writeHead(200, JSON_TYPE).write(' ')
    began.resolve(response)
    return true
  })
  using exchange = createExchange(plain.url)
  const answer = exchange.send({ method: 'GET', path: '/templates' }, new AbortController().signal).catch(String)
  const response = await began.promise
  const ended = () => Promise.race([answer, new Promise((resolve) => setImmediate(() => resolve('goes on')))])
  for (let seconds = 0; seconds < 60 && !response.destroyed; seconds += 10) {
    response.write(' ')
    await ended()
    await vi.advanceTimersByTimeAsync(10_000)
  }
  expect(await ended()).toBe(
    `NoAnswerError: GET ${plain.url}/templates: the answer took too long: 30 s until it began, or for 64 KiB of it`,
  )
})
