// More clients than a gateway can answer: what they see, and what a health check sees beside them.
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { ask, bearer, openSession, startGateway } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

const CLIENTS = 500

/** Sends the request again whenever it was answered, and tells each answer. */
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

test('more than can be answered is 503 with Retry-After in both dialects, and health is always answered', async () => {
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
  const seen = new Map<string, string>()
  const sockets: Promise<Socket>[] = []
  onTestFinished(async () => {
    for (const socket of await Promise.all(sockets)) socket.destroy()
  })
  for (let client = 0; client < CLIENTS; client += 1) {
    const [dialect, request] = client % 2 === 0 ? ['rest', rest] : ['graphql', graphql]
    const onAnswer = (head: string, text: string) => {
      const status = head.slice(9, 12)
      seen.set(`${dialect} ${status}`, status === '503' ? `${head}${text}` : '')
    }
    sockets.push(repeat(url, request ?? '', onAnswer))
  }
  const healths = new Set<number>()
  await expect
    .poll(
      async () => {
        for (const path of ['healthz', 'readyz']) healths.add((await ask(`${url}/${path}`)).status)
        return [...seen.keys()].toSorted()
      },
      { timeout: 50_000 },
    )
    .toEqual(['graphql 200', 'graphql 503', 'rest 200', 'rest 503'])
  expect([...healths]).toEqual([200])
  for (const dialect of ['rest', 'graphql']) expect(seen.get(`${dialect} 503`)).toContain('\r\nretry-after: 1\r\n')
  const bodyOf = (name: string) => JSON.parse(seen.get(name)?.split('\r\n\r\n')[1] ?? '')
  expect(bodyOf('rest 503').code).toBe('UNAVAILABLE')
  expect(bodyOf('graphql 503').errors[0].extensions.code).toBe('UNAVAILABLE')
  for (const socket of await Promise.all(sockets)) socket.destroy()
  await expect.poll(async () => (await ask(`${url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
})

test('whose requests are many waits behind themselves, and a read of somebody else does not', async () => {
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
  await expect.poll(() => answered.length, { timeout: 30_000 }).toBe(402)
  // In order of arrival they were the last.
  expect(answered.indexOf('one')).toBeLessThan(200)
  expect(answered.indexOf('nobody')).toBeLessThan(200)
})

/** Names of connections, in the order in which they were answered. */
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

test('long GraphQL bodies that end at the same time are read one in a turn, and others are answered in between', async () => {
  const gateway = await startGateway()
  const { answered, connect } = orderOfAnswers(gateway.url)
  const lists = Array.from({ length: 60_000 }, (_, at) => ({ [at]: [] }))
  const body = JSON.stringify({ query: '{ __typename }', variables: { lists } })
  const text = requestText({
    method: 'POST',
    target: '/graphql',
    headers: [['Content-Type', 'application/json']],
    body,
  })
  const long = await Promise.all(Array.from({ length: 12 }, () => connect('long')))
  const health = await connect('health')
  for (const socket of long) socket.write(text.slice(0, -1))
  // The first of them loads what answers GraphQL; the last one is sent once the others were read so far.
  await ask(`${gateway.url}/graphql?query={__typename}`)
  for (const socket of long) await expect.poll(() => socket.writableLength).toBe(0)
  await ask(`${gateway.url}/healthz`)
  for (const socket of long) socket.write('}')
  health.write(requestText({ target: '/healthz' }))
  await expect.poll(() => answered.length, { timeout: 30_000 }).toBe(13)
  expect(answered.indexOf('health')).toBeLessThan(6)
})
