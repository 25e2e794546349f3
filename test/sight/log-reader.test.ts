// Tests a log that is read slowly or not at all: the gateway continues to serve, and stops when it is told to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createLogOutput } from '../../src/cli/sight/log-output.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** The access log of these requests is more than a pipe and its reader hold, which is less than half a megabyte. */
const REQUESTS = 3_000
const AT_ONCE = 50
const CONNECTIONS = 40
const PIPELINED = 500
const MEBIBYTE = 1_048_576

test.each([[[]], [['--workers', '2']]])(
  'serve %s ends with exit code 0 after SIGTERM when nobody reads its log',
  async (more) => {
    const { process: gateway, fillLog } = await startUnread(more)
    await fillLog()
    gateway.kill('SIGTERM')
    expect(await once(gateway, 'exit')).toEqual([0, null])
  },
)

test('workers whose log is read late write whole lines', async () => {
  const gateway = await startUnread(['--workers', '3'])
  // Each worker holds some of the lines, besides those that the reader holds.
  await Promise.all(Array.from({ length: CONNECTIONS }, () => pipeline(gateway.url)))
  const lines = createInterface(gateway.process.stderr)
  let requests = 0
  lines.on('line', (line) => {
    if (/^\{"level":30,[^{}]*"msg":"request"\}$/.test(line)) requests += 1
  })
  await expect.poll(() => requests).toBe(CONNECTIONS * PIPELINED)
  gateway.process.kill('SIGTERM')
  expect(await once(gateway.process, 'exit')).toEqual([0, null])
})

/** Sends many requests on one connection and resolves when all are answered. */
async function pipeline(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const get = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'
  socket.end(`${`${get}\r\n`.repeat(PIPELINED - 1)}${get}Connection: close\r\n\r\n`)
  expect((await text(socket)).split('HTTP/1.1 200 OK')).toHaveLength(PIPELINED + 1)
}

/** Starts a gateway whose log is a pipe that nobody reads. */
async function startUnread(more: readonly string[]) {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  const args = ['serve', '--port', '0', '--database', database, '--access-log', 'json', ...more]
  const gateway = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void gateway.kill('SIGKILL'))
  const [line] = await once(createInterface(gateway.stdout), 'line')
  const url = String(line).replace('listening on ', '')
  return {
    url,
    process: gateway,
    async fillLog() {
      for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => fetch(`${url}/healthz`)))
        for (const answer of answers) expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
      }
    },
  }
}

test('output beyond the buffer of a slow reader is dropped, and reported once the reader continues', async () => {
  const taken: number[] = []
  const told: number[] = []
  const reader = Promise.withResolvers<void>()
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      void reader.promise.then(() => {
        taken.push(chunk.byteLength)
        done()
      })
    },
  })
  const output = createLogOutput(stream, (bytes) => told.push(bytes))
  let freed = 0
  const lines = Buffer.alloc(MEBIBYTE)
  for (let count = 0; count < 40; count += 1) output.write(lines, () => (freed += 1))
  // The memory of dropped output is free again.
  expect([stream.writableLength, freed, told]).toEqual([16 * MEBIBYTE, 24, []])
  reader.resolve()
  await once(stream, 'drain')
  expect([taken.length, told]).toEqual([16, [24 * MEBIBYTE]])
  output.write(lines)
  await once(stream, 'drain')
  expect([taken.length, told]).toEqual([17, [24 * MEBIBYTE]])
})
