// npm run test:movein [-- USERS [EXPORT_MB [WRITES [DATABASE]]]]: moves in from an old server, all the way.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomSeed } from '../support/seeded-random.ts'
import { moveInAnAfternoon } from './afternoon/afternoon.ts'

const SAMPLE = process.env.TEST_WORKSPACES ?? new URL('../../src/cli/demo/demo-workspace.ndjson', import.meta.url)

const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-move-in-'))
const own = `file:${join(directory, 'new.db')}`
const [, , users = '1000', exportMegabytes = '50', writes = '500', database = own] = process.argv
const seed = randomSeed()
const start = performance.now()
const log = (line: string) => console.log(`${((performance.now() - start) / 1_000).toFixed(0).padStart(5)} s  ${line}`)

try {
  log(`${users} users, an export of ${exportMegabytes} MB, ${writes} writes, seed ${seed}`)
  const { wrong } = await moveInAnAfternoon({
    directory,
    database,
    sample: readFileSync(SAMPLE, 'utf8'),
    users: Number(users),
    exportBytes: Number(exportMegabytes) * 1_000_000,
    writes: Number(writes),
    clients: 8,
    seed,
    log,
  })
  process.exitCode = wrong.length > 0 ? 1 : 0
} finally {
  rmSync(directory, { recursive: true })
}
