// Compares the answers to random documents with graphql-js over plain objects; the long form is `npm run test:graphql`.
import { getNamedType, isObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { randomSeed } from '../support/seeded-random.ts'
import { runFuzz } from './fuzz/fuzz.ts'
import { createModel } from './fuzz/model.ts'
import { isModelled } from './fuzz/model-resolvers.ts'
import { createOracle } from './fuzz/oracle.ts'

/** Set `FUZZ_SEED=… FUZZ_COUNT=1` to repeat one document. */
const { FUZZ_SEED, FUZZ_COUNT = '800' } = process.env

async function compareAnswers(count: number, databaseUrl?: string) {
  const seed = Number(FUZZ_SEED ?? randomSeed())
  const gateway = await startGateway(databaseUrl === undefined ? {} : { databaseUrl })
  await gateway.load(createModel().ndjson)
  const { tried, differences } = await runFuzz({ url: gateway.url, seed, count })
  console.log(`random documents from seed ${seed}: ${JSON.stringify(tried)}`)
  expect(differences).toEqual([])
  return tried
}

// Takes about four seconds of one processor; a busy machine may need half a minute.
test('hundreds of random documents are answered as graphql-js answers them', { timeout: 300_000 }, async () => {
  const tried = await compareAnswers(Number(FUZZ_COUNT))
  if (Number(FUZZ_COUNT) < 800) return
  for (const [what, times] of Object.entries(tried)) expect(times, what).toBeGreaterThan(Number(FUZZ_COUNT) / 40)
})

// Fewer, because both databases share everything above the store.
test.skipIf(POSTGRES_URL === null)(
  'random documents are answered in the same way from PostgreSQL',
  async () => {
    await compareAnswers(Math.ceil(Number(FUZZ_COUNT) / 4), await temporaryDatabase())
  },
  300_000,
)

test('the model covers every field that a query can reach', () => {
  const { schema } = createOracle()
  const query = schema.getQueryType()
  const reached = new Set(query ? [query] : [])
  const unknown: string[] = []
  for (const type of reached) {
    for (const field of Object.values(type.getFields())) {
      if (!isModelled(type.name, field.name)) unknown.push(`${type.name}.${field.name}`)
      const inner = getNamedType(field.type)
      if (isObjectType(inner)) reached.add(inner)
    }
  }
  expect(reached.size).toBeGreaterThan(10)
  expect(unknown, 'specify these in test/graphql/fuzz/model-resolvers.ts').toEqual([])
})
