// How the keys of an identity provider are fetched: from where the operator said, and only so much.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fetchText, isSafeUrl, NotThereError } from '../../src/auth/guards/assertion/keys/fetch-text.ts'
import { listenForTest } from '../support/listen-for-test.ts'

const MAX_BYTES = 262_144

const listen = (answer: RequestListener) => listenForTest(createServer(answer))

test.each([301, 302, 303, 307, 308])('a redirect is not followed: %s', async (status) => {
  const paths: string[] = []
  const url = await listen(({ url = '' }, response) => {
    paths.push(url)
    if (url === '/keys') response.writeHead(status, { location: '/elsewhere' }).end()
    else response.end('{"keys":[]}')
  })
  await expect(fetchText(`${url}/keys`)).rejects.toThrow()
  expect(paths).toEqual(['/keys'])
})

test('a text of 256 KiB is read, and of a longer one no more than that', async () => {
  const piece = Buffer.alloc(65_536, 'x')
  const left = Promise.withResolvers<void>()
  const url = await listen(({ url }, response) => {
    if (url === '/whole') return void response.end(Buffer.alloc(MAX_BYTES, 'x'))
    if (url === '/longer') return void response.end(Buffer.alloc(MAX_BYTES + 1, 'x'))
    const send = () => void response.write(piece, (error) => error ?? send())
    response.on('close', left.resolve)
    response.on('error', () => {})
    send()
  })
  expect((await fetchText(`${url}/whole`)).length).toBe(MAX_BYTES)
  const { host } = new URL(url)
  for (const path of ['/longer', '/endless']) {
    await expect(fetchText(url + path), path).rejects.toThrow(`${host} answered more than ${MAX_BYTES} bytes`)
  }
  await left.promise
})

test.each(['', 'Content-Length: 250000\r\n'])(
  'an answer that is not coded as it says is an error, and the gateway outlives the end of its connection (%j)',
  async (length) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n${length}\r\n`
    const url = await listen(({ socket }) => void socket.end(head + 'x'.repeat(250_000)))
    for (let count = 0; count < 10; count += 1) {
      await expect(fetchText(url)).rejects.toMatchObject({ code: 'Z_DATA_ERROR' })
    }
  },
)

test('texts are fetched one after another from a server that closes each connection without saying so', async () => {
  const url = await listen(({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'))
  for (let count = 0; count < 10; count += 1) expect(await fetchText(url)).toBe('{}')
})

test.each([
  [403, true],
  [404, true],
  [410, true],
  [400, false],
  [401, false],
  [500, false],
  [503, false],
])('the status %s says that there is no such key: %s', async (status, isMissing) => {
  const url = await listen((_request, response) => void response.writeHead(status).end('nothing'))
  const failed = await fetchText(url).catch((error: unknown) => error)
  expect(failed).toMatchObject({ message: `${new URL(url).host} answered ${status}` })
  expect(failed instanceof NotThereError).toBe(isMissing)
})

test('a server that does not answer is given up after five seconds', async () => {
  const timeout = new AbortController()
  const after = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal)
  onTestFinished(() => after.mockRestore())
  const server = createServer()
  const url = await listenForTest(server)
  const fetching = fetchText(url)
  await once(server, 'request')
  timeout.abort(new Error('too late'))
  await expect(fetching).rejects.toThrow('too late')
  expect(after).toHaveBeenCalledExactlyOnceWith(5_000)
})

test.each([
  ['https://id.example.com/keys', true],
  ['http://127.0.0.1:4000/keys', true],
  ['http://[::1]/keys', true],
  ['http://localhost/keys', true],
  ['http://id.example.com/keys', false],
  ['http://127.0.0.1.example.com/keys', false],
  ['http://localhost@id.example.com/keys', false],
  ['https://ana@id.example.com/keys', false],
  ['https://:secret@id.example.com/keys', false],
  ['ftp://localhost/keys', false],
  ['file:///keys', false],
  ['keys', false],
])('keys may be fetched from %s: %s', (url, isSafe) => {
  expect(isSafeUrl(url)).toBe(isSafe)
})
