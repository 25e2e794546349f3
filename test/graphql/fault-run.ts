// node test/graphql/fault-run.ts [SEED]: plants each fault in a copy of the sources and sends random documents until an
// answer differs. First it sends documents to the unchanged sources, where no answer may differ.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyProject } from '../support/project-copy.ts'
import { randomSeed } from '../support/seeded-random.ts'
import { type FuzzReport, runFuzz } from './fuzz/fuzz.ts'
import { serveModel } from './fuzz/serve-model.ts'
import { PLANTED_FAULTS, type PlantedFault } from './planted-faults.ts'

const DOCUMENTS = 10_000

const seed = Number(process.argv[2] ?? randomSeed())
console.log(`seed ${seed}`)

const healthy = await fuzzCopy(null)
const [first] = healthy.differences
console.log(`as it is: ${first ? `DIFFERS: ${first.reason}` : `${healthy.sent} documents, no difference`}`)
const missed = first ? ['as it is'] : []
for (const fault of PLANTED_FAULTS) {
  const { sent, differences } = await fuzzCopy(fault)
  const [found] = differences
  console.log(`${fault.name}: ${found ? `found by document ${sent}: ${found.reason.slice(0, 200)}` : 'NOT FOUND'}`)
  if (!found) missed.push(fault.name)
}
console.log(missed.length === 0 ? `all ${PLANTED_FAULTS.length} found` : `not as it should be: ${missed.join('; ')}`)
process.exitCode = missed.length === 0 ? 0 : 1

async function fuzzCopy(fault: PlantedFault | null): Promise<FuzzReport> {
  using copy = copyProject(['src', 'schema.graphql', 'package.json'])
  const sources = join(copy.directory, 'src')
  if (fault) plant(join(sources, fault.file), fault)
  await using gateway = await serveModel(sources)
  // A fault may show before the first document, because the gateway does not serve the loaded data.
  return await runFuzz({ url: gateway.url, seed, count: DOCUMENTS, stopAfter: 1 }).catch(toReport)
}

function plant(path: string, { name, find, replacement }: PlantedFault): void {
  const parts = readFileSync(path, 'utf8').split(find)
  if (parts.length !== 2) throw new Error(`${name}: what is to be replaced stands there ${parts.length - 1} times`)
  writeFileSync(path, parts.join(replacement))
}

function toReport(error: unknown): FuzzReport {
  const reason = error instanceof Error ? error.message : String(error)
  const tried = { data: 0, failing: 0, refused: 0, broken: 0, again: 0, compressed: 0, fragments: 0, directives: 0 }
  return { sent: 0, differences: [{ seed, reason, request: '' }], tried }
}
