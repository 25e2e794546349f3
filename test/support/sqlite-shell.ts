// Another process that writes to a database file without knowing of any gateway, like a person in the sqlite3 shell.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const PROCESS = fileURLToPath(new URL('./sqlite-shell-process.ts', import.meta.url))

export interface SqliteShell {
  /** Resolves when the other process has run the text, so its writes are committed. */
  readonly run: (sql: string) => Promise<void>
}

/** Ends at the end of the test. */
export function openSqliteShell(databasePath: string): SqliteShell {
  const child = fork(PROCESS, [databasePath])
  const exited = once(child, 'exit').then(() => {
    throw new Error('the other process ended')
  })
  // `run` reports it.
  exited.catch(() => {})
  onTestFinished(() => {
    child.kill()
  })
  return {
    async run(sql) {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      child.once('message', resolve)
      child.send(sql)
      const problem = await Promise.race([promise, exited])
      if (problem !== null) throw new Error(`${problem}: ${sql}`)
    },
  }
}
