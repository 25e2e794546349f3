// Runs `move` in a process of its own and interrupts it before its end.
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type Finished, startRun } from './command-line.ts'

/** Kills the process after `afterMs`, unless it has ended before. */
export async function moveAndKill(args: readonly string[], afterMs: number): Promise<Finished> {
  const { kill, ended } = startRun(['move', ...args])
  const timer = setTimeout(kill, afterMs)
  const end = await ended
  clearTimeout(timer)
  return end
}

/** Sends the signal as soon as the condition holds. */
export async function moveUntil(
  args: readonly string[],
  condition: () => boolean,
  signal: NodeJS.Signals,
): Promise<Finished> {
  const { kill, isRunning } = startRun(['move', ...args])
  while (!condition() && isRunning()) await delay(1)
  return kill(signal)
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
