// Tests how many PostgreSQL statements reads need that arrive together.
import { beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { recordStatements, sendTogether } from './support/statements.ts'
import { documentLine, exportLine } from './support/workspaces.ts'

/** The maximum number of requests that one connection may have in flight. */
/** A new GraphQL document of each user takes four of the 64 places of a turn. */
const COUNT = 12
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
    // Other threads check the signatures, once per token.
    await Promise.all(tokens.map((token) => gateway.get('/templates', token)))
  })

  test('REST reads that arrive together need two statements', async () => {
    const statements = recordStatements()
    const bodies = await sendTogether(
      gateway,
      tokens.map((token) => `GET /projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    )
    expect(bodies).toEqual(USERS.map((_, index) => `[{"id":"p${index}"}]`))
    expect(statements.names()).toEqual(['liveSessions', 'documentsWithin'])
  })

  test('GraphQL reads of projects with their newest exports and all elements need four statements', async () => {
    const query = encodeURIComponent('{ me { projects { data latestExport { data } } } }')
    const ask = (token: string) =>
      `GET /graphql?query=${query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n\r\n`
    const statements = recordStatements()
    const bodies = await sendTogether(gateway, tokens.map(ask))
    expect(bodies).toEqual(
      USERS.map(
        (_, index) => `{"data":{"me":{"projects":[{"data":{"id":"p${index}"},"latestExport":{"data":[${index}]}}]}}}`,
      ),
    )
    expect(statements.names()).toEqual(['liveSessions', 'documentsWithin', 'latestExports', 'elementRunsOf'])
  })
})
