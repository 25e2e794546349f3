// node test/graphql/long-run.ts [DOCUMENTS [SEED]]: compares the answers to random documents with graphql-js over plain
// objects; the gateway runs in its own process.
import { randomSeed } from '../support/seeded-random.ts'
import { runFuzz } from './fuzz/fuzz.ts'
import { serveModel } from './fuzz/serve-model.ts'

const [, , documents = '100000', given = String(randomSeed())] = process.argv
const seed = Number(given)

console.log(`${documents} random documents, seed ${seed}`)
await using gateway = await serveModel()
const { sent, tried, differences } = await runFuzz({
  url: gateway.url,
  seed,
  count: Number(documents),
  onProgress: (soFar, differing) => console.log(`  ${soFar} sent, ${differing} answered differently`),
})
for (const { seed: own, reason, request } of differences) console.error(`\nseed ${own}: ${reason}\n${request}`)
console.log(`${sent} sent, ${differences.length} answered differently: ${JSON.stringify(tried)}`)
process.exitCode = differences.length === 0 ? 0 : 1
