// Tests that the doctor abandons answers that do not end, and says so in words.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createAsk } from '../../src/cli/doctor/outside/client.ts'
import { type Finished, runHere } from '../support/command-line.ts'
import { listenForTest } from '../support/listen-for-test.ts'

const MIB = 1_048_576
/** More than the doctor accepts, but little enough that a program which accepts all of it survives. */
const ENDLESS_BYTES = 128 * MIB
const TOO_LARGE = 'something answers, but with a body of more than 8 MiB'

function startServer(answer: (response: ServerResponse) => void): Promise<string> {
  return listenForTest(
    createServer((_request, response) => {
      response.on('error', () => {})
      answer(response)
    }),
  )
}

const examine = (url: string): Promise<Finished> =>
  runHere(['doctor', url, '--look', 'outside', '--database', 'file:none.db'])

test('the doctor abandons an endless answer', async () => {
  const piece = Buffer.alloc(MIB, ' ')
  let sent = 0
  const url = await startServer((response) => {
    const send = () => {
      sent += MIB
      if (sent >= ENDLESS_BYTES) response.end(piece)
      else response.write(piece, (error) => error ?? send())
    }
    send()
  })
  expect(await examine(url)).toEqual({ exitCode: 2, stdout: '', stderr: `doctor: at ${url} ${TOO_LARGE}\n` })
  // When the connection closes, no more than its buffers is still in flight.
  expect(sent).toBeLessThan(64 * MIB)
})

test('the doctor abandons a small answer that is large when decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(ENDLESS_BYTES, ' '))
  expect(bomb.byteLength).toBeLessThan(MIB)
  const url = await startServer((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  expect(await examine(url)).toEqual({ exitCode: 2, stdout: '', stderr: `doctor: at ${url} ${TOO_LARGE}\n` })
})

test('the doctor reports a server that switches to another protocol', async () => {
  const url = await startServer((response) => {
    response.socket?.end('HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  })
  const { exitCode, stderr } = await examine(url)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the server switches to another protocol')])
})

/** Resolves when a client in this process has the head of its next answer. */
function answerBegun(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const begun = () => resolve()
  subscribe('http.client.response.finish', begun)
  onTestFinished(() => void unsubscribe('http.client.response.finish', begun))
  return promise
}

test.each([
  ['that arrives too slowly', true, 'AnswerError: something answers, but takes longer than 15 s for 64 KiB'],
  ['that does not begin', false, 'Error: no answer within 15 s'],
] as const)('the doctor abandons an answer %s', async (_name, begins, expected) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const asked = Promise.withResolvers<ServerResponse>()
  const url = await startServer((response) => {
    if (begins) response.write(' ')
    asked.resolve(response)
  })
  const begun = answerBegun()
  const answer = createAsk({ url: new URL(url), address: undefined, ca: undefined })({ path: '/healthz' }).catch(String)
  const response = await asked.promise
  if (begins) await begun
  const ended = () => Promise.race([answer, new Promise((resolve) => setImmediate(() => resolve('goes on')))])
  for (let seconds = 0; seconds < 60 && !response.destroyed; seconds += 10) {
    if (begins) response.write(' ')
    await ended()
    await vi.advanceTimersByTimeAsync(10_000)
  }
  expect(await ended()).toBe(expected)
})

/** Reads at least this many bytes, and leaves the rest to the buffers of the connection. */
async function take(request: IncomingMessage, byteLength: number): Promise<void> {
  for (let taken = 0; taken < byteLength && !request.destroyed; ) {
    const chunk: Buffer | null = request.read()
    if (chunk) taken += chunk.byteLength
    else await once(request, 'readable').catch(() => {})
  }
}

test('the doctor has the patience for a large body that is sent over a slow line', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const server = createServer()
  const asked = once(server, 'request')
  const url = new URL(await listenForTest(server))
  const body = 'x'.repeat(32 * MIB)
  const ask = createAsk({ url, address: undefined, ca: undefined })
  const answer = ask({ method: 'POST', path: '/graphql', body }).catch(String)
  const [request, response] = await asked
  // Each part is more than the buffers of the connection hold.
  for (let part = 1; part <= 3; part += 1) {
    await vi.advanceTimersByTimeAsync(10_000)
    await take(request, body.length / 4)
  }
  request.resume().once('end', () => response.end())
  expect(await answer).toMatchObject({ status: 200 })
})
