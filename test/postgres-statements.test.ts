import { once } from 'node:events'
import { connect } from 'node:net'
import { Client } from 'pg'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { documentLine, exportLine } from './support/workspaces.ts'

const COUNT = 100
const USERS = Array.from({ length: COUNT }, (_, index) => `u${index}@example.com`)

describe.skipIf(POSTGRES_URL === null)('statements on PostgreSQL', () => {
  let gateway: TestGateway
  let tokens: readonly string[]

  beforeEach(async () => {
    gateway = await startGateway({ databaseUrl: await temporaryDatabase() })
    await gateway.load(
      USERS.map(
        (email, index) =>
          documentLine('project', email, `{"id":"p${index}"}`) +
          exportLine(email, { r: `p${index}`, createdAt: '2026-01-01T00:00:00Z', elements: [`${index}`] }),
      ).join(''),
    )
    tokens = await Promise.all(USERS.map(async (email) => (await gateway.login(email)).accessToken))
    // Signatures are checked on other threads, once a token.
    await Promise.all(tokens.map((token) => gateway.get('/templates', token)))
  })

  test('a hundred REST reads that arrive together cost two', async () => {
    const statements = recordStatements()
    const bodies = await sendTogether(
      gateway,
      tokens.map((token) => `GET /projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    )
    expect(bodies).toEqual(USERS.map((_, index) => `[{"id":"p${index}"}]`))
    expect(withoutKeys(statements)).toEqual(['liveSessions', 'documentsOf'])
  })

  test('a hundred reads of projects with their newest exports and all elements cost four', async () => {
    const query = JSON.stringify({ query: '{ me { projects { data latestExport { data } } } }' })
    const ask = (token: string) =>
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${query.length}\r\n\r\n${query}`
    const statements = recordStatements()
    const bodies = await sendTogether(gateway, tokens.map(ask))
    expect(bodies).toEqual(
      USERS.map(
        (_, index) => `{"data":{"me":{"projects":[{"data":{"id":"p${index}"},"latestExport":{"data":[${index}]}}]}}}`,
      ),
    )
    expect(withoutKeys(statements)).toEqual(['liveSessions', 'documentsOf', 'latestExports', 'elementsOf'])
  })
})

/** The names of the statements that are sent from now on, by anybody in this process. */
function recordStatements(): string[] {
  const names: string[] = []
  const original = Client.prototype.query
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
    const [statement] = args
    names.push(typeof statement === 'object' && statement !== null ? String(Reflect.get(statement, 'name')) : 'script')
    return Reflect.apply(original, this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return names
}

/** The keys are read again once a second, whoever asks. */
function withoutKeys(names: readonly string[]): readonly string[] {
  return names.filter((name) => name !== 'signingKeys')
}

/** Sends the requests in one piece on one connection; answers the bodies in order. */
async function sendTogether({ url }: TestGateway, requests: readonly string[]): Promise<readonly string[]> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  socket.write(requests.join(''))
  let bodies: readonly string[] = []
  while (bodies.length < requests.length) {
    await once(socket, 'data')
    bodies = wholeBodies(received)
  }
  socket.destroy()
  return bodies
}

function wholeBodies(text: string): readonly string[] {
  const bodies: string[] = []
  for (let rest = text; ; ) {
    const head = /^HTTP\/1\.1 \d+ [\s\S]*?content-length: (\d+)\r\n[\s\S]*?\r\n\r\n/i.exec(rest)
    const end = (head?.[0].length ?? 0) + Number(head?.[1])
    if (!head || rest.length < end) return bodies
    bodies.push(rest.slice(head[0].length, end))
    rest = rest.slice(end)
  }
}
