// Runs `move` in a process of its own and interrupts it before its end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { PROGRAM } from './program.ts'

export interface MoveEnd {
  /** Null when the process was killed. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

function startMove(args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'move', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  async function end(): Promise<MoveEnd> {
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { exitCode: child.exitCode, stdout, stderr }
  }
  return { child, ended: end() }
}

/** Kills the process after `afterMs`, unless it has ended before. */
export async function moveAndKill(args: readonly string[], afterMs: number): Promise<MoveEnd> {
  const { child, ended } = startMove(args)
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  const end = await ended
  clearTimeout(timer)
  return end
}

/** Sends the signal as soon as the condition holds. */
export async function moveUntil(
  args: readonly string[],
  condition: () => boolean,
  signal: NodeJS.Signals,
): Promise<MoveEnd> {
  const { child, ended } = startMove(args)
  while (!condition() && child.exitCode === null) await delay(1)
  child.kill(signal)
  return ended
}

/** Reads one value from an SQLite database; null while the database does not have it yet. */
export function valueIn(database: string, sql: string): unknown {
  const path = database.slice('file:'.length)
  if (!existsSync(path)) return null
  const opened = new Database(path, { readonly: true })
  try {
    return opened.prepare(sql).pluck().get()
  } catch {
    return null
  } finally {
    opened.close()
  }
}

export function phaseOf(database: string): unknown {
  return valueIn(database, 'select phase from move')
}
