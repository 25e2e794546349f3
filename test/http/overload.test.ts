// More clients than a gateway can answer: what they get, and what a health check gets meanwhile.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { ask, bearer, openSession, startGateway } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const CLIENTS = 500

/** Sends the request again after each answer, and passes on each answer. */
async function repeat(url: string, request: string, onAnswer: (head: string, body: string) => void): Promise<Socket> {
  const socket = await openSocket(url)
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const bodyAt = text.indexOf('\r\n\r\n') + 4
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
    if (bodyAt === 3 || text.length < bodyAt + length) return
    onAnswer(text.slice(0, bodyAt), text.slice(bodyAt))
    text = ''
    socket.write(request)
  })
  socket.write(request)
  return socket
}

test('requests beyond capacity get 503 with Retry-After in REST and GraphQL; health is always answered', async () => {
  const database = ['--database', `file:${temporaryDirectory()}/data.db`]
  await runHere(['import', '-', ...database], { stdin: SMALL_WORLD })
  const overload = ['--max-queue-delay', '5', '--cache-bytes', '0', '--log-level', 'silent']
  const { url } = await serveForTest([...database, ...overload])
  const { accessToken } = await openSession(url, ANA)
  const headers = [['Authorization', `Bearer ${accessToken}`]] as const
  const body = JSON.stringify({ query: '{ me { projects { documentId name data } } }' })
  const rest = requestText({ target: '/projects', headers })
  const json = ['Content-Type', 'application/json'] as const
  const graphql = requestText({ method: 'POST', target: '/graphql', headers: [...headers, json], body })
  // In the queue, a health check would be one of these strangers, and refused like them.
  const strange = requestText({ target: '/projects' })
  const seen = new Map<string, string>()
  const sockets: Promise<Socket>[] = []
  onTestFinished(async () => {
    for (const socket of await Promise.all(sockets)) socket.destroy()
  })
  for (let client = 0; client < CLIENTS; client += 1) {
    const kinds = [['rest', rest] as const, ['graphql', graphql] as const, ['strange', strange] as const]
    const [dialect, request] = kinds[client % kinds.length] ?? ['', '']
    const onAnswer = (head: string, text: string) => {
      const status = head.slice(9, 12)
      seen.set(`${dialect} ${status}`, status === '503' ? `${head}${text}` : '')
    }
    sockets.push(repeat(url, request, onAnswer))
  }
  const healths = new Set<number>()
  const askHealth = async () => {
    for (const path of ['healthz', 'readyz']) healths.add((await ask(`${url}/${path}`)).status)
  }
  await expect
    .poll(() => askHealth().then(() => [...seen.keys()].toSorted()))
    .toEqual(['graphql 200', 'graphql 503', 'rest 200', 'rest 503', 'strange 401', 'strange 503'])
  for (let count = 0; count < 20; count += 1) await askHealth()
  expect([...healths]).toEqual([200])
  for (const dialect of ['rest', 'graphql']) expect(seen.get(`${dialect} 503`)).toContain('\r\nretry-after: 1\r\n')
  const bodyOf = (name: string) => JSON.parse(seen.get(name)?.split('\r\n\r\n')[1] ?? '')
  expect(bodyOf('rest 503').code).toBe('UNAVAILABLE')
  expect(bodyOf('graphql 503').errors[0].extensions.code).toBe('UNAVAILABLE')
  for (const socket of await Promise.all(sockets)) socket.destroy()
  await expect.poll(async () => (await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
})

test('while connections are accepted, health checks are answered, strangers wait, and a long answer pauses', async () => {
  let free = Number.POSITIVE_INFINITY
  const gateway = await startGateway({ cacheBytes: 0, accepting: { isHolding: () => free-- <= 0 } })
  const names = Array.from({ length: 2_000 }, (_, n) => `t${n}`)
  await gateway.load(names.map((id) => documentLine('template', ANA, JSON.stringify({ id }))).join(''))
  const { accessToken } = await gateway.login(ANA)
  const answered: string[] = []
  const ask = async (name: string, query: string, token: { accessToken?: string } = {}) => {
    await gateway.graphql(query, token)
    answered.push(name)
  }
  const fields = names.slice(0, 50).map((name) => `${name}: data`)
  // Enough for the long request to begin, but not for most of its pieces; then connections keep coming.
  free = 6
  const asking = [ask('long', `{ me { templates { ${fields} } } }`, { accessToken })]
  await expect.poll(() => free).toBeLessThan(0)
  asking.push(ask('stranger', '{ __typename }'))
  for (let n = 0; n < 200; n += 1) expect((await gateway.get('/healthz')).status).toBe(200)
  expect(answered).toEqual([])
  free = Number.POSITIVE_INFINITY
  await Promise.all(asking)
  expect(answered.toSorted()).toEqual(['long', 'stranger'])
})

test('many requests of one user wait behind each other, and others do not wait for them', async () => {
  const gateway = await startGateway({ cacheBytes: 0 })
  await gateway.load(SMALL_WORLD)
  const answered: string[] = []
  const read = async (name: string, headers: readonly (readonly [string, string])[]) => {
    const socket = await openSocket(gateway.url)
    onTestFinished(() => {
      socket.destroy()
    })
    // The first request of a connection may wait for other connections.
    socket.write(requestText({ target: '/healthz' }))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.on('data', () => answered.push(name))
    return () => socket.write(requestText({ target: '/projects', headers }))
  }
  const authorization = async (email: string) =>
    [['Authorization', `Bearer ${(await gateway.login(email)).accessToken}`]] as const
  const many = await authorization(ANA)
  const sends = await Promise.all(Array.from({ length: 400 }, () => read('many', many)))
  const sendOne = await read('one', await authorization(BEN))
  const sendAnonymous = await read('nobody', [])
  for (const send of sends) send()
  sendOne()
  sendAnonymous()
  await expect.poll(() => answered.length).toBe(402)
  // In order of arrival, they would be the last.
  expect(answered.indexOf('one')).toBeLessThan(200)
  expect(answered.indexOf('nobody')).toBeLessThan(200)
})

/** Records the names of connections, in the order in which they were answered. */
function orderOfAnswers(url: string) {
  const answered: string[] = []
  const connect = async (name: string) => {
    const socket = await openSocket(url)
    onTestFinished(() => {
      socket.destroy()
    })
    socket.write(requestText({ target: '/healthz' }))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.on('data', () => answered.push(name))
    return socket
  }
  return { answered, connect }
}

function sumOf(sockets: readonly Socket[], count: 'bytesRead' | 'bytesWritten'): number {
  return sockets.reduce((sum, socket) => sum + socket[count], 0)
}

describe('long GraphQL bodies that end at the same time', () => {
  /** A body of 400 kB, whose JSON takes tens of milliseconds to read. */
  function longRequest(accessToken: string): string {
    const lists = Array.from({ length: 30_000 }, (_, at) => ({ [at]: [] }))
    const body = JSON.stringify({ query: '{ __typename }', variables: { lists } })
    const headers = [
      ['Content-Type', 'application/json'],
      ['Authorization', `Bearer ${accessToken}`],
    ] as const
    return requestText({ method: 'POST', target: '/graphql', headers, body })
  }

  /** Sends twelve requests of Ana and one of Ben without their last byte; `end` sends that byte. */
  async function begin() {
    const gateway = await startGateway()
    await gateway.load(SMALL_WORLD)
    const { answered, connect } = orderOfAnswers(gateway.url)
    const [ana, ben] = [await gateway.login(ANA), await gateway.login(BEN)]
    // The first GraphQL request loads what answers GraphQL.
    await gateway.graphql('{ __typename }')
    const texts = [...Array.from({ length: 12 }, () => longRequest(ana.accessToken)), longRequest(ben.accessToken)]
    const accepted: Socket[] = []
    const accept = (message: unknown) => accepted.push((message as { readonly socket: Socket }).socket)
    subscribe('net.server.socket', accept)
    const sockets = await Promise.all(texts.map((_, at) => connect(at < 12 ? 'ana' : 'ben')))
    unsubscribe('net.server.socket', accept)
    for (const [at, socket] of sockets.entries()) socket.write(texts[at]?.slice(0, -1) ?? '')
    // Wait until all bytes have arrived: one that is late would come after the end of another connection's body.
    const [sent, read] = [() => sumOf(sockets, 'bytesWritten'), () => sumOf(accepted, 'bytesRead')]
    await expect.poll(() => read() === sent() && sockets.every(({ writableLength }) => writableLength === 0)).toBe(true)
    await gateway.get('/healthz')
    return {
      gateway,
      answered,
      end() {
        for (const socket of sockets) socket.write('}')
      },
    }
  }

  test('are read one at a time, and other requests get most of the time', async () => {
    const { gateway, answered, end } = await begin()
    end()
    let others = 0
    while (answered.length < 13) {
      expect((await gateway.get('/healthz')).status).toBe(200)
      others += 1
    }
    // They run in the process that answers; each takes a few turns of its event loop. With one body per turn it was 9.
    expect(others).toBeGreaterThan(30)
  })

  test('of one user wait for each other, and the body of another user does not wait for them', async () => {
    const { answered, end } = await begin()
    end()
    await expect.poll(() => answered.length).toBe(13)
    expect(answered.indexOf('ben')).toBeLessThan(3)
  })
})
