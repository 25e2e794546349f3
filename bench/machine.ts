// Provides the means of measuring: processes pinned to processors, the load generator, and a folder for files.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Load, type LoadJob, startLoad } from './load/load.ts'
import { type ServerProcess, startServer } from './measuring/server-process.ts'

export interface MachineOptions {
  /** Main file of the gateway. */
  readonly program: string
  /** Measurements of each contender. Figures are their medians. */
  readonly rounds: number
  /** Duration of each measurement. */
  readonly seconds: number
  readonly users: number
  /** Whether servers and load are pinned to one processor each, if the system supports that. */
  readonly isPinned: boolean
  readonly generator: LoadJob['generator']
  /** Parent folder for files; undefined means the temporary folder of the system. */
  readonly directory: string | undefined
}

export interface Machine extends AsyncDisposable {
  /** Main file of the gateway, packed as its package has it. */
  readonly program: string
  readonly rounds: number
  readonly seconds: number
  readonly users: number
  /** Folder for files of the rows. It is removed at the end. */
  readonly directory: string
  readonly load: Load
  /** Starts `node ARGS`, which prints `listening on URL`, on the servers' processor. */
  readonly start: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<ServerProcess>
  /** Prefix that makes a command run on the servers' processor; empty if the system cannot pin. */
  readonly onServerProcessor: readonly string[]
}

const SERVER_PROCESSOR = ['taskset', '-c', '0']
const LOAD_PROCESSOR = ['taskset', '-c', '1']

export function openMachine({
  program,
  directory: parent,
  isPinned,
  generator,
  rounds,
  seconds,
  users,
}: MachineOptions): Machine {
  const directory = mkdtempSync(join(parent ?? tmpdir(), 'workspace-gateway-bench-'))
  const canPin = isPinned && availableParallelism() > 1 && hasTaskset()
  const onServerProcessor = canPin ? SERVER_PROCESSOR : []
  const load = startLoad(canPin ? LOAD_PROCESSOR : [], generator)
  return {
    program,
    rounds,
    seconds,
    users,
    directory,
    load,
    onServerProcessor,
    start: (args, env = {}) => startServer(onServerProcessor, args, env),
    async [Symbol.asyncDispose]() {
      await load[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-c', '0,1', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
