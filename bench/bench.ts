// What every row measures with: the size of a run, the data, processes on processors of their own, and load.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Load, type LoadJob, startLoad } from './load/load.ts'
import { type PostgresWorkspace, preparePostgres } from './postgres.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { prepareWorkspace, type Workspace } from './workspaces.ts'

export interface BenchOptions {
  /** Measurements of each thing; figures are medians of them. */
  readonly rounds: number
  /** Of each measurement. */
  readonly seconds: number
  readonly users: number
  /** How many of the users have tokens. */
  readonly signedIn: number
  /** Whether servers and load have a processor each, where the system can do that. */
  readonly isPinned: boolean
  readonly generator: LoadJob['generator']
  /** Where to put files; the system's place for temporary ones when undefined. */
  readonly directory: string | undefined
}

export interface Bench extends AsyncDisposable {
  readonly rounds: number
  readonly seconds: number
  readonly users: number
  /** For files of the rows; removed at the end. */
  readonly directory: string
  readonly load: Load
  /** The SQLite database of the benchmark and tokens for it; made when first asked for. */
  readonly workspace: () => Promise<Workspace>
  /** The same on PostgreSQL, without exports; made when first asked for. Throws where there is no PostgreSQL. */
  readonly postgres: () => Promise<PostgresWorkspace>
  /** `node ARGS` that prints `listening on URL`, on the servers' processor. */
  readonly start: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<ServerProcess>
  /** What stands before a command so that it runs on the servers' processor; empty where the system cannot. */
  readonly onServerProcessor: readonly string[]
}

const SERVER_PROCESSOR = ['taskset', '-c', '0']
const LOAD_PROCESSOR = ['taskset', '-c', '1']

export async function openBench({ directory: parent, isPinned, generator, ...options }: BenchOptions): Promise<Bench> {
  const directory = mkdtempSync(join(parent ?? tmpdir(), 'workspace-gateway-bench-'))
  const canPin = isPinned && availableParallelism() > 1 && hasTaskset()
  const onServerProcessor = canPin ? SERVER_PROCESSOR : []
  const load = startLoad(canPin ? LOAD_PROCESSOR : [], generator)
  let workspace: Promise<Workspace> | null = null
  let postgres: Promise<PostgresWorkspace> | null = null

  const bench: Bench = {
    ...options,
    directory,
    load,
    onServerProcessor,
    start: (args, env = {}) => startServer(onServerProcessor, args, env),
    workspace() {
      workspace ??= prepareWorkspace(bench, options.signedIn)
      return workspace
    },
    postgres() {
      postgres ??= preparePostgres(bench)
      return postgres
    },
    async [Symbol.asyncDispose]() {
      await load[Symbol.asyncDispose]()
      // One that could not be made has nothing to end.
      await (await postgres?.catch(() => null))?.[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return bench
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-c', '0,1', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
