// Provides what every row of the benchmark measures with: the machine, and the data that most rows share.
import { type PostgresWorkspace, preparePostgres } from './data/postgres.ts'
import { prepareWorkspace, type Workspace } from './data/workspaces.ts'
import { type Machine, type MachineOptions, openMachine } from './machine.ts'

export interface BenchOptions extends MachineOptions {
  /** Number of users that have tokens. */
  readonly signedIn: number
}

export interface Bench extends Machine {
  /** The SQLite database of the benchmark and tokens for it. Created at the first call. */
  readonly workspace: () => Promise<Workspace>
  /** The same data on PostgreSQL, without exports. Created at the first call. Throws when there is no PostgreSQL. */
  readonly postgres: () => Promise<PostgresWorkspace>
}

export async function openBench({ signedIn, ...options }: BenchOptions): Promise<Bench> {
  const machine = openMachine(options)
  let workspace: Promise<Workspace> | null = null
  let postgres: Promise<PostgresWorkspace> | null = null

  function openWorkspace(): Promise<Workspace> {
    workspace ??= prepareWorkspace(machine, signedIn)
    return workspace
  }

  return {
    ...machine,
    workspace: openWorkspace,
    postgres() {
      postgres ??= openWorkspace().then((shared) => preparePostgres(machine, shared))
      return postgres
    },
    async [Symbol.asyncDispose]() {
      // A PostgreSQL that could not be created needs no cleanup.
      await (await postgres?.catch(() => null))?.[Symbol.asyncDispose]()
      await machine[Symbol.asyncDispose]()
    },
  }
}
