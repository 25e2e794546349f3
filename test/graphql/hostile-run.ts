// node test/graphql/hostile-run.ts [ROW …]: sends every hostile shape, anonymous and signed in with 53 MB in the
// workspace, to a gateway with a heap of 512 MB, and prints how long `/healthz` waited meanwhile and by how much the
// memory grew.
import { setTimeout as delay } from 'node:timers/promises'
import { DOCUMENT_SHAPES } from './hostile/document-shapes.ts'
import { failingShapes } from './hostile/failing-shapes.ts'
import { FLOODS, type Flood } from './hostile/floods.ts'
import { type HealthProber, startHealthProber } from './hostile/health-prober.ts'
import { type LimitedGateway, startLimitedGateway } from './hostile/limited-gateway.ts'
import { REQUEST_SHAPES } from './hostile/request-shapes.ts'
import { REVIEWED_SHAPES } from './hostile/reviewed-shapes.ts'
import { anonymousOutcomes, TOO_MUCH } from './hostile/shape.ts'
import { ATTACKER, VICTIM } from './hostile/world.ts'

const WORKSPACE_BYTES = 53_000_000
const MAX_WAIT_MS = 250
const MAX_GROWTH_MIB = 100
/** A pause between rows, to collect the garbage of the last row. */
const SETTLE_MS = 300
const IDLE_MS = 2_000

interface Row {
  readonly name: string
  /** Resolves with the outcomes that are not allowed. */
  readonly run: (running: Running) => Promise<readonly string[]>
}

interface Running {
  readonly gateway: LimitedGateway
  readonly prober: HealthProber
  readonly attacker: string
  readonly victim: string
}

const wanted = process.argv.slice(2)
const rows = allRows().filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
let running = await start()
let bad = 0
// On a busy machine everybody waits, whatever is sent: measure that first.
await delay(IDLE_MS)
console.log(`with nothing sent: others waited ${(await running.prober.slowest()).toFixed(0)} ms`)
for (const row of rows) {
  await delay(SETTLE_MS)
  await running.prober.slowest()
  const before = running.gateway.residentMiB()
  running.gateway.forgetPeak()
  const startedAt = performance.now()
  const wrong = [...(await row.run(running))]
  const seconds = (performance.now() - startedAt) / 1_000
  const waited = await running.prober.slowest()
  const growth = running.gateway.peakMiB() - before
  if (waited > MAX_WAIT_MS) wrong.push('others waited too long')
  if (growth > MAX_GROWTH_MIB) wrong.push('memory grew too much')
  if (!running.gateway.isAlive()) wrong.push('THE GATEWAY ENDED')
  if (wrong.length > 0) bad += 1
  const figures = `${seconds.toFixed(2)} s, others waited ${waited.toFixed(0)} ms, grew ${growth.toFixed(0)} MiB`
  console.log(`${wrong.length === 0 ? 'ok ' : 'BAD'} ${row.name}: ${figures}${wrong.map((one) => `; ${one}`).join('')}`)
  if (!running.gateway.isAlive()) {
    await stop()
    running = await start()
  }
}
await stop()
console.log(bad === 0 ? `all ${rows.length} rows held` : `${bad} of ${rows.length} rows did not hold`)
process.exitCode = bad === 0 ? 0 : 1

function allRows(): readonly Row[] {
  const shapes = [...REVIEWED_SHAPES, ...DOCUMENT_SHAPES, ...REQUEST_SHAPES, ...failingShapes(ATTACKER)]
  return [
    ...shapes.flatMap((shape): Row[] => [
      {
        name: `${shape.name}, anonymous`,
        async run({ gateway }) {
          const request = shape.request()
          return unexpected((await gateway.send(request)).outcome, anonymousOutcomes(shape, request))
        },
      },
      {
        // A result that is answered from 5 MB may be too much from 53 MB.
        name: `${shape.name}, signed in`,
        run: async ({ gateway, attacker }) =>
          unexpected((await gateway.send(shape.request(), attacker)).outcome, [...shape.signedIn, ...TOO_MUCH]),
      },
    ]),
    ...FLOODS.map((flood: Flood): Row => ({ name: flood.name, run: (of) => flood.run(of) })),
  ]
}

function unexpected(outcome: string, allowed: readonly string[]): readonly string[] {
  return allowed.includes(outcome) ? [] : [`answered ${outcome}`]
}

async function start(): Promise<Running> {
  const gateway = await startLimitedGateway(WORKSPACE_BYTES, '--trace-header')
  const [attacker, victim] = [await gateway.login(ATTACKER), await gateway.login(VICTIM)]
  // Pay the costs of first requests here, so that they are part of no row.
  for (const query of ['{ __typename }', '{ me { email } }', '{ nothing }', '{']) {
    await gateway.send({ body: JSON.stringify({ query }) }, attacker)
  }
  return { gateway, attacker, victim, prober: startHealthProber(gateway.url) }
}

async function stop(): Promise<void> {
  await running.prober[Symbol.asyncDispose]()
  await running.gateway[Symbol.asyncDispose]()
}
