// Tests the totals that a supervisor keeps of its workers, in whatever order their answers come.
import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { counter } from '../../src/admin/metrics/metric.ts'
import { createWorkerTotals } from '../../src/cli/workers/add-up-workers.ts'
import { serveWatched, sumOf } from '../sight/watched.ts'
import { ask } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { stateOf, until, workersOf } from './processes.ts'

const HELD = 'an answer is held back'

/**
 * Returns a module that makes the first worker send its earlier answers last, as when the database answers its
 * questions in another order.
 */
function answersOfTheFirstWorkerLate(): Readonly<Record<string, string>> {
  const path = join(temporaryDirectory(), 'late.mjs')
  writeFileSync(
    path,
    `import cluster from 'node:cluster'
if (cluster.isWorker && cluster.worker.id === 1) {
  const send = process.send.bind(process)
  const held = []
  process.send = (message, ...rest) => {
    if (message?.stateAnswered > 0) {
      process.stderr.write('{"pid":' + process.pid + ',"msg":"${HELD}"}\\n')
      return held.push([message, ...rest])
    }
    const isSent = send(message, ...rest)
    if (message?.stateAnswered === 0) for (const late of held) send(...late)
    return isSent
  }
}
`,
  )
  return { NODE_OPTIONS: `--import ${path}` }
}

test.skipIf(process.platform !== 'linux')(
  'the final counts of a worker are kept when an earlier answer arrives after them',
  async () => {
    const { serving, metrics } = await serveWatched(['--workers', '2'], answersOfTheFirstWorkerLate())
    const scraped = metrics()
    const pid = () => Number(new RegExp(`"pid":(\\d+),"msg":"${HELD}"`).exec(serving.stderr())?.[1])
    await until(() => pid() > 0)
    const first = pid()
    const second = workersOf(serving).find((one) => one !== first) ?? 0
    // The first worker has to count all requests.
    process.kill(second, 'SIGSTOP')
    await until(() => stateOf(second) === 'T')
    for (let count = 0; count < 40; count += 1) {
      await ask(`${serving.url}/projects`, { headers: { connection: 'close' } })
    }
    process.kill(second, 'SIGCONT')
    process.kill(first, 'SIGTERM')
    await until(() => !workersOf(serving).includes(first))
    await scraped
    const counted = sumOf(await metrics(), 'http_server_request_duration_seconds_count', { http_route: '/projects' })
    expect(counted).toBe(40)
  },
)

test.skipIf(process.platform !== 'linux')(
  'probes of the admin port while a worker hangs are answered by the others, and add nothing to the log',
  async () => {
    const { serving, adminUrl } = await serveWatched(['--workers', '2'])
    const [hung = 0] = workersOf(serving)
    process.kill(hung, 'SIGSTOP')
    await until(() => stateOf(hung) === 'T')
    const probes = await Promise.all(Array.from({ length: 30 }, () => ask(`${adminUrl}/readyz`)))
    process.kill(hung, 'SIGCONT')
    expect(new Set(probes.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await serving.kill('SIGTERM')).toBe(0)
    const lines = serving.stderr().trim().split('\n')
    expect(lines.filter((line) => !line.startsWith('{"level":30,'))).toEqual([])
  },
)

test('the counts of a worker that ends while those of earlier ones are joined are not lost', async () => {
  const totals = createWorkerTotals()
  const endings = Array.from({ length: 10 }, () => {
    const worker = new EventEmitter()
    totals.add(Object.assign(worker, { isConnected: () => false }) as unknown as Worker)
    const metrics = [counter('requests_total', 'Requests.', [{ value: 1, labels: {} }])]
    return () => worker.emit('message', { stateAnswered: 0, metrics, isReady: false })
  })
  const [last, ...others] = endings
  for (const end of others) end()
  // It joins them, because they are many.
  const scraped = totals.metrics()
  last?.()
  await scraped
  const found = (await totals.metrics()).find(({ name }) => name === 'requests_total')
  expect(found?.values).toMatchObject([{ value: 10 }])
})
