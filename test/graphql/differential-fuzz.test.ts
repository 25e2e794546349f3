// Compares the answers to random documents with graphql-js over plain objects; the long form is `npm run test:graphql`.
import { getNamedType, isObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { randomSeed } from '../support/seeded-random.ts'
import { runFuzz } from './fuzz/fuzz.ts'
import { createModel } from './fuzz/model.ts'
import { isModelled } from './fuzz/model-resolvers.ts'
import { createOracle } from './fuzz/oracle.ts'

/** Set `FUZZ_SEED=… FUZZ_COUNT=1` to repeat one document. */
const { FUZZ_SEED, FUZZ_COUNT = '800' } = process.env

// Takes about four seconds of one processor; a busy machine may need half a minute.
test('hundreds of random documents are answered as graphql-js answers them', { timeout: 300_000 }, async () => {
  const seed = Number(FUZZ_SEED ?? randomSeed())
  const gateway = await startGateway()
  await gateway.load(createModel().ndjson)
  const { tried, differences } = await runFuzz({ url: gateway.url, seed, count: Number(FUZZ_COUNT) })
  console.log(`random documents from seed ${seed}: ${JSON.stringify(tried)}`)
  expect(differences).toEqual([])
  if (Number(FUZZ_COUNT) < 800) return
  for (const [what, times] of Object.entries(tried)) expect(times, what).toBeGreaterThan(Number(FUZZ_COUNT) / 40)
})

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
  expect(unknown).toEqual([])
})
