// The load generator of the benchmark is a measuring instrument: it must send what the plan says, and notice every
// wrong answer.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { startLoad } from '../bench/load/load.ts'
import { type LoadRequest, uniformPlan, zipfPlan } from '../bench/load/plan.ts'
import { keepRunning } from '../bench/measuring/keep-running.ts'
import { measure } from '../bench/rows/overload.ts'

const USERS = Array.from({ length: 50 }, (_, user) => ({ name: `user${user}`, token: `first${user}` }))
const GET: LoadRequest = { method: 'GET', path: '/{{name}}', headers: { authorization: 'Bearer {{token}}' } }
const RENEW: LoadRequest = {
  method: 'POST',
  path: '/{{name}}',
  headers: { authorization: 'Bearer {{token}}' },
  body: '{"name":"{{name}}"}',
  adopts: ['token'],
}

test('the warm-up asks for every user of the plan once, however the answers arrive', async () => {
  const seen: string[] = []
  const answers: readonly RequestListener[] = [
    (_, response) => response.end('x'.repeat(200_000)),
    (_, response) => response.end(),
    (_, response) => response.writeHead(304, { etag: '"x"' }).end(),
    (_, response) => {
      response.write('0\r\n\r\n')
      setImmediate(() => response.end('x'.repeat(100_000)))
    },
  ]
  const server = await serve((request, response) => {
    seen.push(request.url ?? '')
    answers[seen.length % answers.length]?.(request, response)
  })
  await load().warmUp(server, uniformPlan(GET, USERS))
  expect(seen.toSorted()).toEqual(USERS.map(({ name }) => `/${name}`).toSorted())
})

test('an answer that arrives byte by byte is one answer', async () => {
  let requests = 0
  const server = createSocketServer((socket) => {
    socket.setNoDelay(true)
    socket.on('data', () => {
      requests += 1
      const bytes = [...Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello')]
      const sendNext = () => {
        const byte = bytes.shift()
        if (byte !== undefined) socket.write(Buffer.from([byte]), () => setImmediate(sendNext))
      }
      sendNext()
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await load().warmUp(await toServerProcess(server), uniformPlan(GET, USERS))
  expect(requests).toBe(USERS.length)
})

test('refusals and broken connections make the measurement fail', async () => {
  const refusing = await serve((_, response) => response.writeHead(401).end('who are you?'))
  await expect(load().warmUp(refusing, uniformPlan(GET, USERS))).rejects.toThrow(/401 who are you\?$/)
  const breaking = await serve((request) => request.socket.destroy())
  await expect(load().warmUp(breaking, uniformPlan(GET, USERS))).rejects.toThrow(/requests failed/)
})

test('a renewed token is used from then on, by every kind of request', async () => {
  const current = new Map(USERS.map(({ name, token }) => [`/${name}`, token]))
  const counts = { GET: 0, POST: 0, stale: 0 }
  const server = await serve(async (request, response) => {
    const path = request.url ?? ''
    const isCurrent = request.headers.authorization === `Bearer ${current.get(path)}`
    counts[request.method === 'POST' ? 'POST' : 'GET'] += 1
    if (!isCurrent) {
      counts.stale += 1
      response.writeHead(401).end()
    } else if (request.method === 'POST') {
      const body = await text(request)
      const token = `renewed${counts.POST}`
      current.set(path, token)
      if (counts.POST % 2) response.write(' ')
      response.end(body === `{"name":"${path.slice(1)}"}` ? JSON.stringify({ token }) : '')
    } else response.end()
  })
  const plan = zipfPlan(
    [
      { share: 80, request: GET },
      { share: 20, request: RENEW },
    ],
    USERS,
  )
  // One request at a time, so that there is always exactly one right token.
  const measured = await load().measure(server, plan, { seconds: 0.3, connections: 1 })
  expect(counts.stale).toBe(0)
  expect(measured.requestsPerSecond).toBeGreaterThan(0)
  expect(counts.POST).toBeGreaterThan(0)
  expect(counts.GET).toBeGreaterThan(counts.POST)
})

test('users follow Zipf’s law: the first is asked for most, and the rare ones are asked for too', () => {
  const { userOf, requestOf } = zipfPlan([{ share: 1, request: GET }], USERS)
  const counts = USERS.map((_, user) => userOf.filter((other) => other === user).length).sort((a, b) => b - a)
  const [first = 0, second = 0] = counts
  expect(first / second).toBeCloseTo(2, 0)
  expect(first / (counts.at(-1) ?? 0)).toBeGreaterThan(30)
  expect(requestOf.every((kind) => kind === 0)).toBe(true)
})

test('a measurement of overload fails when a connection breaks', async () => {
  const breaking = await serve((request, response) => {
    if (request.url === '/healthz') response.end()
    else request.socket.destroy()
  })
  const job = { port: Number(new URL(breaking.url).port), rate: 0, connections: 10, seconds: 1 }
  const requests = ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n']
  await expect(measure(breaking, { ...job, requests })).rejects.toThrow('the load generator ended')
})

test('a task that fails beside a measurement makes its row fail, and ends nothing else', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const running = keepRunning(2, () => Promise.reject(new Error('the server ended')))
  // Rejections without a handler are reported after the turn in which they happened.
  await new Promise(setImmediate)
  await expect(running[Symbol.asyncDispose]()).rejects.toThrow('the server ended')
  expect(unhandled).toEqual([])
})

function load() {
  const started = startLoad([], 'own')
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

async function serve(listener: RequestListener) {
  return toServerProcess(createServer(listener).listen(0, '127.0.0.1'))
}

/** A server in this process, in place of the measured one. */
async function toServerProcess(server: ReturnType<typeof createSocketServer>) {
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    pid: process.pid,
    cpuMicroseconds: () => process.cpuUsage().user,
    peakMemoryMiB: () => 0,
    async [Symbol.asyncDispose]() {},
  }
}
