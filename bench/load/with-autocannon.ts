// Generates the same load with autocannon, to check the benchmark's own generator: a goal must hold with both.
// Latencies are in whole milliseconds, and values in answers are not adopted.
import autocannon from 'autocannon'
import type { LoadJob, LoadReport } from './load.ts'
import { fillIn, type LoadRequest } from './plan.ts'

/** Number of prepared requests that each connection repeats. */
const REQUESTS_PER_CONNECTION = 500

export async function runAutocannon({ url, plan, connections, fromStep, milliseconds }: LoadJob): Promise<LoadReport> {
  const { requests, users, requestOf, userOf } = plan
  const eachOnce = [...new Set([...userOf].map((user, step) => user * requests.length + (requestOf[step] ?? 0)))]
  const isOnce = milliseconds === null
  const perConnection = isOnce ? Math.ceil(eachOnce.length / connections) : REQUESTS_PER_CONNECTION
  let next = isOnce ? 0 : fromStep

  function take(): LoadRequest {
    const step = next % userOf.length
    const [kind, user] = isOnce ? pairAt(next) : [requestOf[step] ?? 0, userOf[step] ?? 0]
    next += 1
    const request = requests[kind]
    const values = users[user]
    if (!request || !values) throw new Error('the plan names what it does not have')
    return fillIn(request, values)
  }

  function pairAt(index: number): readonly [kind: number, user: number] {
    const pair = eachOnce[index % eachOnce.length] ?? 0
    return [pair % requests.length, Math.floor(pair / requests.length)]
  }

  const cpu = process.cpuUsage()
  const result = await autocannon({
    url,
    connections,
    ...(isOnce ? { amount: perConnection * connections } : { duration: milliseconds / 1_000 }),
    setupClient: (client) => client.setRequests(Array.from({ length: perConnection }, take)),
  })
  const { user, system } = process.cpuUsage(cpu)
  const failed = result.errors + result['4xx'] + result['5xx']
  return {
    answered: result.requests.total,
    total: result.requests.total,
    elapsedMilliseconds: result.duration * 1_000,
    p50Milliseconds: result.latency.p50,
    p99Milliseconds: result.latency.p99,
    cpuMicroseconds: user + system,
    failed,
    firstFailure: `${result.errors} broken, ${result['4xx']} of 4xx, ${result['5xx']} of 5xx`,
  }
}
