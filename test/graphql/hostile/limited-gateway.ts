// A gateway in its own process with a small heap: sends it hostile requests, and measures it.
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { run, serve } from '../../support/command-line.ts'
import type { HostileRequest, Outcome } from './shape.ts'
import { largeWorld } from './world.ts'

const MEDIA_TYPE = 'application/graphql-response+json'
const HEAP_MIB = 512
/** With a lower limit, shapes of 900,000 characters would only show that they are too large. */
const BODY_LIMIT_BYTES = 1_048_576

export interface Sent {
  readonly outcome: Outcome
  readonly bytes: number
  /** The header that says how the answer was made; empty if none was sent. */
  readonly trace: string
}

export interface LimitedGateway extends AsyncDisposable {
  readonly url: string
  readonly isAlive: () => boolean
  readonly login: (email: string) => Promise<string>
  /** Resolves with the outcome, which is `broken` if the connection ends before the answer does. */
  readonly send: (request: HostileRequest, accessToken?: string) => Promise<Sent>
  /** In MiB; NaN without /proc. */
  readonly residentMiB: () => number
  /** The peak of the resident memory since `forgetPeak`. */
  readonly peakMiB: () => number
  readonly forgetPeak: () => void
}

export async function startLimitedGateway(bytes: number, ...options: readonly string[]): Promise<LimitedGateway> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-hostile-'))
  const database = ['--database', `file:${join(directory, 'workspace.db')}`]
  const input = join(directory, 'world.ndjson')
  const file = createWriteStream(input)
  for (const line of largeWorld(bytes)) file.write(line)
  file.end()
  await finished(file)
  const imported = await run(['import', input, ...database])
  if (imported.exitCode !== 0) throw new Error(imported.stderr)
  const limits = ['--access-token-ttl', '86400', '--body-limit', String(BODY_LIMIT_BYTES)]
  const args = [...database, ...limits, '--log-level', 'silent', ...options]
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` }
  const { url, process: child, kill } = await serve(args, { env })
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })

  function status(field: string): number {
    try {
      const text = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1_024
    } catch {
      return Number.NaN
    }
  }

  async function send({ method = 'POST', path = '/graphql', headers = {}, body }: HostileRequest, token?: string) {
    const { promise, resolve, reject } = Promise.withResolvers<Sent>()
    const outgoing = httpRequest(`${url}${path}`, {
      agent,
      method,
      headers: {
        accept: MEDIA_TYPE,
        'gateway-trace': '1',
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
    })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      let [length, start] = [0, '']
      incoming.on('data', (chunk: Buffer) => {
        length += chunk.byteLength
        // Errors come before the data, or the data is small.
        if (start.length < 65_536) start += chunk.toString('latin1')
      })
      incoming.on('error', reject)
      incoming.on('end', () => {
        const code = /"code":"([A-Z_]+)"/.exec(start)?.[1]
        const outcome = `${incoming.statusCode}${code === undefined ? '' : ` ${code}`}`
        resolve({ outcome, bytes: length, trace: String(incoming.headers['gateway-trace'] ?? '') })
      })
    })
    outgoing.end(body)
    return promise.catch((error: Error): Sent => ({ outcome: `broken: ${error.message}`, bytes: 0, trace: '' }))
  }

  return {
    url,
    send,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async login(email) {
      const body = JSON.stringify({ email })
      const answer = await fetch(`${url}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      if (answer.status !== 200) throw new Error(`login was answered ${answer.status}`)
      return ((await answer.json()) as { readonly accessToken: string }).accessToken
    },
    residentMiB: () => status('VmRSS'),
    peakMiB: () => status('VmHWM'),
    // proc(5): 5 resets the peak.
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, '5'),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await kill('SIGKILL')
      rmSync(directory, { recursive: true })
    },
  }
}
