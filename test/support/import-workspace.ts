// A database file for one test, the commands that import into it and dump it, and lines to import.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Finished, runHere } from './command-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { ANA, documentLine } from './workspaces.ts'

export const EVE = 'eve@example.com'

/** Some test data has exports without projects. The import reports them, and that is no failure. */
const ONLY_ORPHANS = /^(?:stdin:\d+: .* which no project of this user has\n|… and \d+ exports? of other references\n)*$/

/** `run` runs the commands; `database` is a URL that replaces the file. */
export function createWorkspace(run: typeof runHere = runHere, database?: string) {
  const directory = temporaryDirectory()
  const path = (name: string) => join(directory, name)
  const flags = ['--database', database ?? `file:${path('workspace.db')}`]
  const importText = (ndjson: string): Promise<Finished> => run(['import', '-', ...flags], { stdin: ndjson })
  return {
    directory,
    path,
    flags,
    write(name: string, content: string | Uint8Array): string {
      writeFileSync(path(name), content)
      return path(name)
    },
    import: (file: string, ...options: string[]): Promise<Finished> => run(['import', file, ...flags, ...options]),
    importText,
    run: (...args: readonly string[]): Promise<Finished> => run([...args, ...flags]),
    async load(ndjson: string): Promise<void> {
      expect(await importText(ndjson)).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(ONLY_ORPHANS) })
    },
    async dump(): Promise<string> {
      const { exitCode, stdout, stderr } = await run(['dump', ...flags])
      expect([exitCode, stderr]).toEqual([0, ''])
      return stdout
    },
  }
}

/** Makes a database file with this content, and returns its path. */
export async function createDatabaseFile(ndjson: string): Promise<string> {
  const workspace = createWorkspace()
  await workspace.load(ndjson)
  return workspace.path('workspace.db')
}

/** Without the lines of progress, which an import from a server writes every ten seconds: a slow machine has some. */
export function withoutProgress(finished: Finished): Finished {
  return { ...finished, stderr: finished.stderr.replaceAll(/^(?:importing|verifying): .*\n/gm, '') }
}

export function templateLines(from: number, to: number, email: string = ANA): string[] {
  return Array.from({ length: to - from }, (_, index) =>
    documentLine('template', email, `{"id":${from + index},"text":"must not appear"}`),
  )
}

export function splitExportHead(r: string, createdAt: string, id: string): string {
  return `{"kind":"export","email":"${EVE}","r":"${r}","createdAt":"${createdAt}","id":"${id}"}\n`
}

export function elementLine(id: string, data: string): string {
  return `{"kind":"exportElement","export":"${id}","data":${data}}\n`
}

/** Sorts the lines: a dump groups what may have been imported in any order. */
export function sorted(ndjson: string): readonly string[] {
  return ndjson.split('\n').toSorted()
}
