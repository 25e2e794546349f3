// SQLite and PostgreSQL serve the same bytes.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { dumpUsers } from '../src/import-export/dump.ts'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

const EVE = 'eve@example.com'
const HOSTILE = [
  '1.0',
  '1E400',
  '[9007199254740993,-0]',
  '{"a":1,"a":2,"1":0}',
  '"\\u0000\\ud800 \u2028😀"',
  '{ "" :\t[ ] }',
]

/** Workspaces that are larger than a test would invent; TEST_WORKSPACES names others. */
const LARGER = process.env.TEST_WORKSPACES ?? new URL('../src/cli/demo/demo-workspace.ndjson', import.meta.url)

describe.skipIf(POSTGRES_URL === null)('SQLite and PostgreSQL', () => {
  test('serve the same bytes for every read of the same import', async () => {
    const world = [
      SMALL_WORLD,
      ...HOSTILE.map((value, index) => documentLine('project', EVE, `{"id":${index},"v":${value}}`)),
      exportLine(EVE, { r: '0', createdAt: '2026-01-01T00:00:00.5+01:00', elements: HOSTILE }),
      readFileSync(LARGER, 'utf8'),
    ].join('')
    const gateways = [await startGateway(), await startGateway({ databaseUrl: await temporaryDatabase() })] as const
    for (const gateway of gateways) await gateway.load(world)
    const [sqlite, postgres] = await Promise.all(gateways.map(everyRead))
    expect(sqlite?.length).toBeGreaterThan(20)
    expect(postgres).toEqual(sqlite)
  })
})

/** All reads of all users, over REST and GraphQL, with the entity tags, and the whole dump. */
async function everyRead(gateway: TestGateway): Promise<readonly string[]> {
  const answers: string[] = []
  for (const { email } of await gateway.store.usersAfter('', 1_000)) {
    const { accessToken } = await gateway.login(email)
    const projects = await gateway.graphql('{ me { projects { ref } } }', { accessToken })
    const refs: readonly string[] = projects.json().data.me.projects.map(({ ref }: { ref: string }) => ref)
    const paths = refs.map((ref) => `/exports?r=${encodeURIComponent(ref)}`)
    for (const path of ['/projects', '/templates', '/ui-libraries', ...paths]) {
      const { status, text, headers } = await gateway.get(path, accessToken)
      answers.push(`${email} ${path} ${status} ${headers.get('etag')} ${status === 200 ? text : ''}`)
    }
    const whole =
      '{ me { projects { data cursor exports { digest createdAt elements { data cursor } } } templates { data } } }'
    answers.push((await gateway.graphql(whole, { accessToken })).text)
  }
  await using snapshot = await gateway.store.openSnapshot()
  for await (const line of dumpUsers(snapshot)) answers.push(line)
  return answers
}
