// Opens what builds and runs container images here: a daemon of its own, which leaves nothing behind, or the daemon of
// the machine.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'

const MEGABYTE = 1_000_000
const PATIENCE_MS = 120_000

export interface Ran {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ContainerEngine extends AsyncDisposable {
  readonly docker: (args: readonly string[], input?: string) => Ran
  readonly spawnDocker: (args: readonly string[]) => ChildProcess
  /** Whether nobody else sees its images, so that one may stand in for another. */
  readonly isOwn: boolean
}

/** Returns the engine, or the reason why there is none. */
export async function openContainerEngine(): Promise<ContainerEngine | string> {
  if (!answers('docker', ['--version'])) return 'docker is not installed'
  const own = process.platform === 'linux' && process.getuid?.() === 0 && answers('dockerd', ['--version'])
  if (own) return startDaemon()
  return answers('docker', ['info']) ? toEngine({}, null) : 'no Docker daemon answers, and none can be started'
}

/** Includes the folders of administrators' programs, which are not on every path. */
const PATH = [process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter)

function answers(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { env: { ...process.env, PATH } }).status === 0
}

async function startDaemon(): Promise<ContainerEngine | string> {
  const folder = makeDirectory()
  const [socket, home] = [`unix://${join(folder, 'docker.sock')}`, join(folder, 'home')]
  mkdirSync(home)
  const folders = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')]
  // Containers share the network of the machine, so that it is not changed.
  const network = ['--bridge=none', '--iptables=false', '--ip6tables=false']
  const options = ['--host', socket, '--pidfile', join(folder, 'pid'), ...folders, ...network]
  // The daemon ends with these tests, even if they are killed.
  const daemon = spawn('setpriv', ['--pdeathsig', 'TERM', 'dockerd', ...options], { env: { ...process.env, PATH } })
  let log = ''
  for (const stream of [daemon.stdout, daemon.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log += chunk
    })
  }
  const closed = once(daemon, 'close')
  const engine = toEngine({ DOCKER_HOST: socket, DOCKER_CONFIG: home }, { daemon, closed, folder })
  for (const startedAt = performance.now(); !log.includes('API listen on'); ) {
    const left = PATIENCE_MS - (performance.now() - startedAt)
    const late = new Promise((resolve) => setTimeout(resolve, Math.max(0, left), 'late').unref())
    const event = await Promise.race([once(daemon.stderr, 'data'), closed.then(() => 'closed'), late])
    if (event !== 'closed' && event !== 'late') continue
    await engine[Symbol.asyncDispose]()
    return `dockerd does not start here: ${log.trim().split('\n').at(-1)}`
  }
  return engine
}

interface OwnDaemon {
  readonly daemon: ChildProcess
  readonly closed: Promise<unknown>
  readonly folder: string
}

function toEngine(variables: Readonly<Record<string, string>>, own: OwnDaemon | null): ContainerEngine {
  const env = { ...process.env, ...variables }
  const docker = (args: readonly string[], input = ''): Ran => {
    const { status, stdout, stderr } = spawnSync('docker', args, {
      env,
      input,
      encoding: 'utf8',
      maxBuffer: 100 * MEGABYTE,
    })
    return { exitCode: status, stdout, stderr }
  }
  return {
    docker,
    spawnDocker: (args) => spawn('docker', args, { env }),
    isOwn: own !== null,
    async [Symbol.asyncDispose]() {
      if (!own) return
      own.daemon.kill('SIGTERM')
      await own.closed
      // The daemon leaves the mount of the network that its containers share.
      for (const path of mountsBelow(own.folder)) spawnSync('umount', [path])
      removeDirectory(own.folder)
    },
  }
}

function mountsBelow(folder: string): readonly string[] {
  const paths = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  return paths.filter((path) => path.startsWith(`${folder}/`)).toReversed()
}
