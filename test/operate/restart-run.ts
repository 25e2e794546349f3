// npm run test:restarts: restarts a gateway behind a socket that stays open, while new connections arrive all the time.
// None may be refused. CONNECTIONS a second (2,000), SECONDS (20) and RESTARTS (4) can be set.
import { setTimeout as delay } from 'node:timers/promises'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'
import { askOnNewConnection, newTally, startActivated } from './socket-activation.ts'

const perSecond = Number(process.env.CONNECTIONS ?? 2_000)
const seconds = Number(process.env.SECONDS ?? 20)
const restarts = Number(process.env.RESTARTS ?? 4)
const TICK_MS = 5

const folder = makeDirectory()
const args = ['--no-demo', '--log-level', 'error', '--workers', process.env.WORKERS ?? '1']
const gateway = await startActivated(folder, args, { isRestarted: true })
try {
  const tally = newTally()
  await askOnNewConnection(gateway.port, tally)
  const pids = new Set([gateway.pid()])
  const asked: Promise<void>[] = []
  const startedAt = performance.now()
  const restarting = (async () => {
    for (let done = 0; done < restarts; done += 1) {
      await delay((seconds * 1_000) / (restarts + 1))
      gateway.restart()
      while (pids.has(gateway.pid())) await delay(TICK_MS)
      pids.add(gateway.pid())
    }
  })()
  for (let elapsedMs = 0; elapsedMs < seconds * 1_000; elapsedMs = performance.now() - startedAt) {
    const due = Math.floor((elapsedMs / 1_000) * perSecond)
    while (asked.length < due) asked.push(askOnNewConnection(gateway.port, tally))
    await delay(TICK_MS)
  }
  const rate = asked.length / ((performance.now() - startedAt) / 1_000)
  await Promise.all([...asked, restarting])
  console.log(
    `${asked.length} new connections, ${Math.round(rate)} a second, ${pids.size - 1} restarts: ${tally.answered - 1} answered, slowest ${Math.round(tally.slowestMs)} ms, failures ${JSON.stringify(tally.failures)}`,
  )
  if (tally.answered !== asked.length + 1 || pids.size !== restarts + 1) process.exitCode = 1
} finally {
  await gateway.stop()
  removeDirectory(folder)
}
