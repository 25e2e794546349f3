// Starts the servers that rows compare, each in a process of its own.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import type { Machine } from '../machine.ts'
import type { ServerProcess } from '../measuring/server-process.ts'

/** An answer as a client sees it. */
export interface SampleAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body as it came over the wire. */
  readonly bytes: Uint8Array
}

/** Starts the gateway on a database URL, with more options of `serve`. */
export function startGateway(
  machine: Machine,
  databaseUrl: string,
  ...options: readonly string[]
): Promise<ServerProcess> {
  // Tokens that outlast every row. Warnings and failures show on the terminal.
  const lasting = ['--access-token-ttl', '86400', '--log-level', 'warn']
  return machine.start([machine.program, 'serve', '--database', databaseUrl, '--port', '0', ...lasting, ...options])
}

/** Starts `servers/NAME.ts` of the benchmark, with a free PORT and `env` as environment variables. */
export async function startPeer(
  machine: Machine,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  return machine.start([script], {
    PORT: String(await freePort('127.0.0.1')),
    NODE_ENV: 'production',
    GRAPHILE_ENV: 'production',
    ...env,
  })
}

/** Starts a server that sends this answer to every request. */
export function startBare(machine: Machine, answer: SampleAnswer): Promise<ServerProcess> {
  const file = join(mkdtempSync(join(machine.directory, 'bare-')), 'answer.json')
  writeFileSync(file, JSON.stringify({ ...answer, bytes: Buffer.from(answer.bytes).toString('base64') }))
  return startPeer(machine, 'bare', { ANSWER: file })
}
