// Runs an import in a process of its own, which a test may kill before it is done.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { PROGRAM } from './program.ts'

export interface ImportEnd {
  /** Null when the process was killed. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ImportProcess {
  readonly pid: number
  readonly ended: Promise<ImportEnd>
  readonly isRunning: () => boolean
  /** Sends SIGKILL and waits for the end. */
  readonly kill: () => Promise<ImportEnd>
}

export function startImport(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ImportProcess {
  const child = spawn(process.execPath, [PROGRAM, 'import', file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })

  async function end(): Promise<ImportEnd> {
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { exitCode: child.exitCode, stdout, stderr }
  }

  const ended = end()
  return {
    pid: child.pid ?? 0,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill() {
      child.kill('SIGKILL')
      return ended
    },
  }
}
