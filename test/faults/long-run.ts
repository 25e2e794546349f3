// Each fault many times, under load, with a look after each at all that was acknowledged: node test/faults/long-run.ts [TIMES [SEED]]
import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient, readSession, type Session } from '../support/client.ts'
import { type ServingProcess, serve } from '../support/command-line.ts'
import { compileLibrary } from '../support/compile-library.ts'
import { createLedger, type Ledger, sessionLosses } from '../support/crash-ledger.ts'
import { createSeededRandom, randomSeed, type SeededRandom } from '../support/seeded-random.ts'

const CLIENTS = 6
/** The moment of the fault is drawn from this long a time. */
const FAULT_WITHIN_MS = 400
/** How long a fault that passes lasts. */
const FAULT_LASTS_MS = 150

interface Place {
  readonly path: string
  /** What the library is told to fail. */
  readonly setFault: (fault: string) => void
}

interface Fault {
  readonly name: string
  readonly make: (place: Place, serving: ServingProcess) => void
  /** Undoes what an operator would have to; after the process ended, or while it goes on. */
  readonly repair: (place: Place) => void
  /** Of the process; null where it goes on. */
  readonly exitCode: number | 'killed' | null
}

/** Another name for the same file, so that what was taken away can be put back. */
const safe = (path: string) => `${path}.safe`

function putBack(path: string): void {
  rmSync(path, { force: true })
  renameSync(safe(path), path)
}

const failing = (name: string, exitCode: Fault['exitCode']): Fault => ({
  name,
  make: ({ setFault }) => setFault(name),
  repair: ({ setFault }) => setFault(''),
  exitCode,
})

const FAULTS: readonly Fault[] = [
  failing('fsync', 1),
  failing('write', 1),
  failing('full', null),
  {
    name: 'kill -9',
    make: (_, { process: child }) => child.kill('SIGKILL'),
    repair() {},
    exitCode: 'killed',
  },
  {
    name: 'database deleted',
    make: ({ path }) => {
      linkSync(path, safe(path))
      rmSync(path)
    },
    repair: ({ path }) => putBack(path),
    exitCode: 1,
  },
  {
    name: '-wal deleted',
    make: ({ path }) => rmSync(`${path}-wal`),
    repair() {},
    exitCode: 1,
  },
  {
    name: 'database replaced',
    make: ({ path }) => {
      linkSync(path, safe(path))
      writeFileSync(`${path}.other`, 'somebody else’s')
      renameSync(`${path}.other`, path)
    },
    repair: ({ path }) => putBack(path),
    exitCode: 1,
  },
]

/** Signs in and out until `isOver`. What is not answered 200 is uncertain, whatever it says. */
async function work(client: Client, ledger: Ledger, random: SeededRandom, isOver: () => boolean): Promise<void> {
  const mine: Session[] = []
  while (!isOver()) {
    const session = random.below(3) === 0 ? mine.pop() : undefined
    try {
      if (session) {
        ledger.live.splice(ledger.live.indexOf(session), 1)
        ledger.uncertain.push(session)
        if ((await client.logout(session.refreshToken)).status !== 200) continue
        ledger.uncertain.splice(ledger.uncertain.indexOf(session), 1)
        ledger.ended.push(session)
      } else {
        const answer = await client.login(`user-${random.below(9)}@example.com`)
        if (answer.status !== 200) continue
        mine.push(readSession(answer))
        ledger.live.push(...mine.slice(-1))
      }
    } catch {
      return
    }
  }
}

async function round(fault: Fault, library: string, random: SeededRandom): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-fault-'))
  const control = join(directory, 'control')
  const path = join(directory, 'data', 'workspace.db')
  mkdirSync(join(directory, 'data'))
  writeFileSync(control, '')
  const place: Place = { path, setFault: (text) => writeFileSync(control, text) }
  const flags = ['--database', `file:${path}`, '--log-level', 'silent']
  const problems: string[] = []
  const ledger = createLedger()
  let serving = await serve(flags, { env: { LD_PRELOAD: library, FAULT_FILE: control } })
  try {
    const clients = Array.from({ length: CLIENTS }, () => createClient(serving.url))
    let isOver = false
    const working = Promise.all(
      clients.map((client) => work(client, ledger, createSeededRandom(random.below(2 ** 31)), () => isOver)),
    )
    await delay(100 + random.below(FAULT_WITHIN_MS))
    fault.make(place, serving)
    if (fault.exitCode === null) await delay(FAULT_LASTS_MS)
    else {
      const exitCode = await serving.kill('SIGCONT')
      if (fault.exitCode !== 'killed' && exitCode !== fault.exitCode) problems.push(`it ended with ${exitCode}`)
    }
    fault.repair(place)
    if (fault.exitCode === null) {
      await delay(FAULT_LASTS_MS)
      isOver = true
      await working
      await serving.kill('SIGKILL')
    }
    isOver = true
    await working
    for (const client of clients) client[Symbol.dispose]()
    serving = await serve([...flags, '--check', 'full'])
    const lookers = Array.from({ length: CLIENTS }, () => createClient(serving.url))
    problems.push(...(await sessionLosses(lookers, ledger)))
    for (const client of lookers) client[Symbol.dispose]()
    acknowledged += ledger.live.length + ledger.ended.length * 2
  } finally {
    await serving.kill('SIGKILL')
  }
  if (problems.length === 0) rmSync(directory, { recursive: true, force: true })
  else problems.push(`the database is kept in ${directory}`)
  return problems.map((problem) => `${fault.name}: ${problem}`)
}

let acknowledged = 0
const times = Number(process.argv[2] ?? 20)
const seed = Number(process.argv[3] ?? randomSeed())
const random = createSeededRandom(seed)
const library = compileLibrary('fault-library.c', mkdtempSync(join(tmpdir(), 'workspace-gateway-faults-')))
let bad = 0
console.log(`${FAULTS.length} faults, ${times} times each, seed ${seed}`)
for (const fault of FAULTS) {
  const before = acknowledged
  let found = 0
  for (let time = 0; time < times; time += 1) {
    const problems = await round(fault, library, random)
    for (const problem of problems) console.error(problem)
    found += problems.length
  }
  bad += found
  console.log(`${fault.name}: ${times} times, ${acknowledged - before} acknowledged, ${found} problems`)
}
console.log(`${bad === 0 ? 'good' : 'BAD'}: ${acknowledged} acknowledged, ${bad} problems`)
process.exitCode = bad === 0 ? 0 : 1
