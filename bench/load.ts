// One measurement: load from this process, cost from the server's.
import autocannon from 'autocannon'
import type { ServerProcess } from './server-process.ts'

const CONNECTIONS = 64

export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Measurement {
  readonly requestsPerSecond: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  readonly cpuMicrosecondsPerRequest: number
}

/** Throws when anything but 2xx and 304 was answered. */
export async function measure(
  server: ServerProcess,
  requests: readonly LoadRequest[],
  seconds: number,
): Promise<Measurement> {
  const before = server.cpuMicroseconds()
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [...requests],
  })
  const cpu = server.cpuMicroseconds() - before
  const wrong = result.errors + result['4xx'] + result['5xx']
  if (wrong > 0) throw new Error(`${wrong} requests failed at ${server.url}`)
  return {
    requestsPerSecond: result.requests.total / result.duration,
    p50Milliseconds: result.latency.p50,
    p99Milliseconds: result.latency.p99,
    cpuMicrosecondsPerRequest: cpu / result.requests.total,
  }
}
