// Starts Debian's PgBouncer in front of a PostgreSQL server, in transaction mode by default: few connections for many
// clients.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { untilListening } from './listening.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
/** PgBouncer refuses to run as root; for root it is started as nobody. */
const NOBODY = { uid: 65_534, gid: 65_534 }
const asUser: { readonly uid?: number; readonly gid?: number } = process.getuid?.() === 0 ? NOBODY : {}

export const HAS_PGBOUNCER = existsSync(PROGRAM)
if (!HAS_PGBOUNCER)
  console.warn('skipped: the tests with PgBouncer, which is not installed (Debian: apt-get install pgbouncer)')

export interface Pooler extends AsyncDisposable {
  /** The URL of the same database through the pooler. */
  readonly through: (databaseUrl: string) => string
}

/** Opens at most `connections` connections to each database of the server at `serverUrl`. */
export async function startPgbouncer(
  serverUrl: string,
  { connections, mode = 'transaction' }: { readonly connections: number; readonly mode?: 'transaction' | 'session' },
): Promise<Pooler> {
  const { hostname, port, username, password } = new URL(serverUrl)
  const directory = await mkdtemp(join(tmpdir(), 'workspace-gateway-pgbouncer-'))
  if (asUser.uid !== undefined) await chown(directory, asUser.uid, NOBODY.gid)
  const ownPort = await freePort('127.0.0.1')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: ownPort,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: connections,
    max_client_conn: 1_000,
    logfile: join(directory, 'log'),
  }
  const configuration = join(directory, 'pgbouncer.ini')
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  await writeFile(
    configuration,
    `[databases]\n* = host=${hostname} port=${port} user=${username} password=${password}\n[pgbouncer]\n${lines.join('\n')}\n`,
    { mode: 0o644 },
  )
  const child = spawn(PROGRAM, [configuration], { ...asUser, stdio: ['ignore', 'ignore', 'pipe'] })
  const said: string[] = []
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()))
  const ended = once(child, 'exit')
  await untilListening(ownPort, () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said.join('')}`)
  })
  return {
    through(databaseUrl) {
      const url = new URL(databaseUrl)
      url.port = String(ownPort)
      return url.href
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}
