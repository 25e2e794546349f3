// Starts real proxies from Debian in front of a gateway, as another user than the gateway's.
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { untilListening } from './listening.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export type ProxyProgram = keyof typeof PROGRAMS

/** For each proxy, its program and the arguments that start it with a configuration file. */
const PROGRAMS = {
  nginx: { path: '/usr/sbin/nginx', args: (file: string) => ['-e', 'stderr', '-c', file] },
  haproxy: { path: '/usr/sbin/haproxy', args: (file: string) => ['-db', '-f', file] },
  caddy: { path: '/usr/bin/caddy', args: (file: string) => ['run', '--config', file, '--adapter', 'caddyfile'] },
  apache2: { path: '/usr/sbin/apache2', args: (file: string) => ['-D', 'FOREGROUND', '-f', file] },
  socat: { path: '/usr/bin/socat', args: () => [] },
} as const

/** `nobody` on every Linux. Only root may start programs as another user. */
const OTHER_USER = 65_534
export const canBeOtherUser = process.platform === 'linux' && process.getuid?.() === 0

export function isInstalled(program: ProxyProgram): boolean {
  return existsSync(PROGRAMS[program].path)
}

const missing = (Object.keys(PROGRAMS) as ProxyProgram[]).filter((program) => !isInstalled(program))
if (missing.length > 0) {
  console.warn(`skipped: rows of proxies that are not installed (Debian: apt-get install ${missing.join(' ')})`)
}
if (!canBeOtherUser) {
  console.warn('skipped: rows of proxies that only the user of their process tells apart, since the tests are not root')
}

export interface ProxyFile {
  readonly name: string
  readonly text: string
}

export interface ProxyStart {
  readonly program: ProxyProgram
  /** The configuration comes first; `DIRECTORY` in a text stands for the folder of the files. */
  readonly files: readonly ProxyFile[]
  /** Replaces the arguments that name the configuration. */
  readonly args?: readonly string[]
  /** The ports on which it will listen. */
  readonly ports: readonly number[]
  /** Whether the proxy runs as the gateway's own user. */
  readonly asSameUser?: boolean
}

/**
 * Resolves when the proxy listens on all ports; kills it at the end of the test. If it ends early, throws what it
 * printed.
 */
export async function startProxy({ program, files, args, ports, asSameUser = false }: ProxyStart): Promise<void> {
  const directory = temporaryDirectory()
  const user = asSameUser || !canBeOtherUser ? {} : { uid: OTHER_USER, gid: OTHER_USER }
  for (const folder of [directory, join(directory, 'logs')]) {
    mkdirSync(folder, { recursive: true })
    if ('uid' in user) chownSync(folder, OTHER_USER, OTHER_USER)
    chmodSync(folder, 0o755)
  }
  for (const { name, text } of files) {
    writeFileSync(join(directory, name), text.replaceAll('DIRECTORY', directory), { mode: 0o644 })
  }
  const { path, args: argsOf } = PROGRAMS[program]
  const child = spawn(path, args ?? argsOf(join(directory, files[0]?.name ?? '')), {
    ...user,
    cwd: directory,
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: directory,
      XDG_CONFIG_HOME: directory,
      XDG_DATA_HOME: directory,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a process group of its own, so that its workers are killed with it.
    detached: true,
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk.toString()))
  onTestFinished(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  })
  const assertAlive = () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said.join('')}`)
  }
  for (const port of ports) await untilListening(port, assertAlive)
  // Another process may be the one that listens.
  assertAlive()
}
