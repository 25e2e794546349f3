// Starts a server under measurement as a separate process, and reads its processor time and memory.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

export interface ServerProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** User and system time so far, in microseconds; NaN without /proc. */
  readonly cpuMicroseconds: () => number
  /** Peak resident memory in MiB; NaN without /proc. */
  readonly peakMemoryMiB: () => number
}

/** proc_pid_stat(5): clock ticks are hundredths of a second on every Linux that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000

/**
 * Starts `node ARGS`, prefixed with `command`, and resolves once it has printed `listening on URL`. `stderr` may be an
 * open file descriptor.
 */
export async function startServer(
  command: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stderr: 'inherit' | number = 'inherit',
): Promise<ServerProcess> {
  const [file = '', ...rest] = [...command, process.execPath, ...args]
  const child = spawn(file, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', stderr] })
  const url = await listeningUrl(child, args)
  return {
    url,
    pid: child.pid ?? 0,
    cpuMicroseconds() {
      const fields = read(child, 'stat').split(') ').at(-1)?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK
    },
    peakMemoryMiB: () => Number(/VmHWM:\s+(\d+) kB/.exec(read(child, 'status'))?.[1]) / 1_024,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function listeningUrl(child: ChildProcess, args: readonly string[]): Promise<string> {
  let output = ''
  for await (const chunk of child.stdout ?? []) {
    output += chunk
    const url = /listening on (\S+)/.exec(output)?.[1]
    if (url) {
      child.stdout?.resume()
      return url
    }
  }
  throw new Error(`${args.join(' ')} ended before it listened`)
}

function read(child: ChildProcess, file: string): string {
  try {
    return readFileSync(`/proc/${child.pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
