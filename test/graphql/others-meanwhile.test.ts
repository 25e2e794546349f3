// While the gateway answers a small document with a large effect, it answers other requests before that answer begins.
import { describe, expect, test } from 'vitest'
import { bearer, startGateway, type TestGateway } from '../support/gateway.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'
import { failingShapes } from './hostile/failing-shapes.ts'

/**
 * The least number of other requests that are answered meanwhile. They are sent one after the other from the process
 * that answers; each takes a few turns of its event loop, whatever the time. The numbers are a third to a half of what
 * was seen. A gateway that did more in one turn answered at most 12, 6 and 2 for the second and for the last two rows.
 */
const ANSWERS: Readonly<Record<string, number>> = {
  '45,000 errors': 150,
  '20,000 errors under long names': 70,
  '9,000 arguments that do not fit, in 3,000 lines': 30,
  '4,900 items that fail': 20,
  '27,000 connections': 14,
  '45,000 projects that are not there': 5,
}

async function start(world = SMALL_WORLD) {
  const gateway = await startGateway({ cacheBytes: 0 })
  await gateway.load(world)
  const { accessToken } = await gateway.login(ANA)
  await gateway.graphql('{ me { email } }', { accessToken })
  return { gateway, accessToken }
}

/** Returns how many other requests were answered before this answer began. */
async function answeredMeanwhile(gateway: TestGateway, accessToken: string, body: string): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/graphql-response+json',
    ...bearer(accessToken),
  }
  let hasBegun = false
  const asking = fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body }).then(async (response) => {
    hasBegun = true
    await response.arrayBuffer()
    return response.status
  })
  let count = 0
  while (!hasBegun) {
    expect((await gateway.get('/healthz')).status).toBe(200)
    if (!hasBegun) count += 1
  }
  expect(await asking).toBe(200)
  return count
}

test.for(failingShapes(ANA))('the gateway answers other requests while it answers $name', async ({ name, request }) => {
  const { gateway, accessToken } = await start()
  const count = await answeredMeanwhile(gateway, accessToken, request().body ?? '')
  expect(count).toBeGreaterThanOrEqual(ANSWERS[name] ?? Number.NaN)
})

/** The answer contains little of each project, but each project is read whole. */
describe('with a hundred projects of 150 kB', () => {
  const names = Array.from({ length: 100 }, (_, index) => `p${index}`)
  const world = names
    .map((name) => documentLine('project', ANA, JSON.stringify({ id: name, ref: name, content: 'x'.repeat(150_000) })))
    .join('')

  test.for([{ name: 'as a connection', query: '{ me { projectsConnection { pageInfo { hasNextPage } } } }' }])(
    'the gateway answers other requests while it reads all projects $name',
    async ({ query }) => {
      const { gateway, accessToken } = await start(world)
      const count = await answeredMeanwhile(gateway, accessToken, JSON.stringify({ query }))
      // When all projects were read in one turn, the count was one or none.
      expect(count).toBeGreaterThanOrEqual(5)
    },
  )
})

/** The answer contains one member of the document, but the whole document is searched for it. */
test.for([
  { name: 'many members', members: `${'"a":1,'.repeat(350_000)}"name":"n"` },
  { name: 'a long list in it', members: `"x":[${'[],'.repeat(700_000)}1],"name":"n"` },
  { name: 'many tags', members: `"tags":[${'"a",'.repeat(520_000)}"b"],"name":"n"` },
])('the gateway answers other requests while it reads a document of 2 MB with $name', async ({ members }) => {
  const { gateway, accessToken } = await start(documentLine('project', ANA, `{"id":"p","ref":"p",${members}}`))
  const ask = 'project(ref: "p") { name tags }'
  const query = `{ me { a: ${ask} b: ${ask} c: project(ref: "p") { documentId tags } } }`
  const count = await answeredMeanwhile(gateway, accessToken, JSON.stringify({ query }))
  // When the document was searched in one turn, the count was one or none.
  expect(count).toBeGreaterThanOrEqual(4)
})

test.for([
  { name: 'slow-to-validate', fields: '__typename '.repeat(400), most: 2 },
  { name: 'short', fields: '__typename', most: 17 },
])(
  'of 64 new $name documents that arrive together, at most $most are answered in one turn',
  async ({ fields, most }) => {
    let turn = 0
    let isOver = false
    const answeredIn = new Map<number, number>()
    const gateway = await startGateway({
      observers: [() => answeredIn.set(turn, (answeredIn.get(turn) ?? 0) + 1)],
    })
    const documents = Array.from({ length: 64 }, (_, n) => `query Q${n} { ${fields} }`)
    // Open the connections first: new connections would disturb the count.
    await Promise.all(documents.map(() => gateway.graphql('{ __typename }')))
    const next = () => {
      turn += 1
      if (!isOver) setImmediate(next)
    }
    next()
    answeredIn.clear()
    const answers = await Promise.all(documents.map((query) => gateway.graphql(query)))
    isOver = true
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect([...answeredIn.values()].reduce((sum, count) => sum + count)).toBe(64)
    expect(Math.max(...answeredIn.values())).toBeLessThanOrEqual(most)
  },
)
