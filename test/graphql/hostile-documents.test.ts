// Every hostile request is answered or refused as its table says, whoever sends it, and the process lives in
// a small heap.
// `npm run test:graphql` measures how long other clients wait meanwhile, and how much memory it takes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectEach } from '../support/rows.ts'
import { DOCUMENT_SHAPES } from './hostile/document-shapes.ts'
import { failingShapes } from './hostile/failing-shapes.ts'
import { floodWithDocuments } from './hostile/floods.ts'
import { type LimitedGateway, startLimitedGateway } from './hostile/limited-gateway.ts'
import { REQUEST_SHAPES } from './hostile/request-shapes.ts'
import { REVIEWED_SHAPES } from './hostile/reviewed-shapes.ts'
import { anonymousOutcomes } from './hostile/shape.ts'
import { ATTACKER, VICTIM } from './hostile/world.ts'

/** The size of the attacker's exports; the long form has ten times as much. */
const WORKSPACE_BYTES = 5_300_000
/** The bound of a refusal's size. */
const MAX_REFUSAL_BYTES = 65_536

const TABLES = {
  'shapes that stopped an earlier gateway': REVIEWED_SHAPES,
  'shapes of documents': DOCUMENT_SHAPES,
  'shapes of requests': REQUEST_SHAPES,
  'shapes of what fails': failingShapes(ATTACKER),
}

describe('a gateway in a small heap', () => {
  let gateway: LimitedGateway
  let accessToken: string

  async function start(): Promise<void> {
    gateway = await startLimitedGateway(WORKSPACE_BYTES)
    accessToken = await gateway.login(ATTACKER)
  }

  async function stop(): Promise<void> {
    await gateway[Symbol.asyncDispose]()
  }

  beforeAll(start)
  afterAll(stop)

  for (const [name, shapes] of Object.entries(TABLES)) {
    test.for([
      ['anonymous', undefined],
      ['signed in', () => accessToken],
    ] as const)(`answers or refuses each request as its table says: ${name}, %s`, async ([who, token]) => {
      await expectEach(shapes, async (shape) => {
        const request = shape.request()
        const { outcome, bytes } = await gateway.send(request, token?.())
        // Restart a gateway that a row has ended, so that the later rows say something too.
        if (outcome.startsWith('broken')) await stop().then(start)
        expect(outcome).toBeOneOf([...(who === 'anonymous' ? anonymousOutcomes(shape, request) : shape.signedIn)])
        expect(bytes).toBeLessThanOrEqual(shape.maxAnswerBytes ?? MAX_REFUSAL_BYTES)
      })
    })
  }
})

test('two thousand different documents of one client do not evict what another client has cached', async () => {
  // So small that one client would fill them, if there were no shares.
  const caches = ['--cache-bytes', '262144', '--graphql-document-bytes', '2097152']
  await using gateway = await startLimitedGateway(100_000, '--trace-header', ...caches)
  const of = { gateway, attacker: await gateway.login(ATTACKER), victim: await gateway.login(VICTIM) }
  // Each is sent twice: a document that was sent once is not cached.
  const documentOf = (index: number) => `query Q${index >> 1} { me { email projects { name } } }`
  expect(await floodWithDocuments(of, 2_000, documentOf)).toEqual([])
  expect(await floodWithDocuments(of, 1_000, (index) => `{ nothing${index} }`)).toEqual([])
})
