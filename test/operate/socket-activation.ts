// Runs a gateway on a socket that systemd-socket-activate keeps open while the gateway restarts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { PROGRAM } from '../support/program.ts'

export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined
}

export interface ActivatedGateway {
  readonly port: number
  readonly url: string
  readonly log: () => string
  /** The process id of the gateway that runs now, or that ran last. */
  readonly pid: () => number
  /** Sends SIGTERM to the gateway. Its successor gets the same socket. */
  readonly restart: () => void
  readonly stop: () => Promise<void>
}

/** Starts nothing before the first connection. With `isRestarted`, another gateway follows one that has ended. */
export async function startActivated(
  folder: string,
  args: readonly string[],
  { host = '127.0.0.1', isRestarted = false, environment = {} } = {},
): Promise<ActivatedGateway> {
  const port = await freePort(host)
  const pidFile = join(folder, 'pid')
  // Each gateway gets its own process id, as from a service manager.
  const once = `sh -c 'echo $$ > ${pidFile}; export LISTEN_PID=$$; exec "$0" "$@"' "$@"`
  const script = isRestarted ? `while :; do ${once}; done` : once
  const command = ['sh', '-c', script, 'sh', process.execPath, PROGRAM, 'serve', ...args]
  const names = ['PATH', ...Object.keys(environment)].map((name) => `--setenv=${name}`)
  const child = spawn('systemd-socket-activate', ['--listen', `${host}:${port}`, ...names, ...command], {
    cwd: folder,
    env: { ...process.env, ...environment },
    detached: true,
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const log = () => Buffer.concat(chunks).toString()
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  while (!log().includes('Listening on')) await new Promise((resolve) => child.stderr.once('data', resolve))
  const pid = () => Number(readFileSync(pidFile, 'utf8'))
  return {
    port,
    url: `http://${host}:${port}`,
    log,
    pid,
    restart: () => void process.kill(pid(), 'SIGTERM'),
    async stop() {
      killGroup(child)
      await closed
    },
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group has ended already.
  }
}

export interface Tally {
  answered: number
  /** Counts by what came instead of an answer. */
  readonly failures: Record<string, number>
  slowestMs: number
}

export function newTally(): Tally {
  return { answered: 0, failures: {}, slowestMs: 0 }
}

const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** Sends one request on a connection of its own, with as little work as possible, because a late client is cut off. */
export function askOnNewConnection(port: number, tally: Tally): Promise<void> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    let answer = ''
    let failure: string | null = null
    connect(port, '127.0.0.1')
      .on('data', (chunk) => {
        answer += chunk
      })
      .once('error', (error: NodeJS.ErrnoException) => {
        failure = error.code ?? error.message
      })
      .once('close', () => {
        failure ??= answer.startsWith('HTTP/1.1 200 ') ? null : answer.slice(0, 12) || 'no answer'
        if (failure === null) tally.answered += 1
        else tally.failures[failure] = (tally.failures[failure] ?? 0) + 1
        tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedAt)
        resolve()
      })
      .write(REQUEST)
  })
}
