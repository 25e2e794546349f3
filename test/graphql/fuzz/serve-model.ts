// A gateway in its own process that serves the model's workspaces, from these sources or from a copy of them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, serve } from '../../support/command-line.ts'
import { createModel } from './model.ts'

const SOURCES = fileURLToPath(new URL('../../../src', import.meta.url))

export interface ServedModel extends AsyncDisposable {
  readonly url: string
}

/** `sources` is a folder with a `main.ts`. Throws when the gateway ends before it listens. */
export async function serveModel(sources: string = SOURCES): Promise<ServedModel> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-fuzz-'))
  const program = join(sources, 'main.ts')
  const input = join(directory, 'model.ndjson')
  const database = ['--database', `file:${join(directory, 'workspace.db')}`]
  writeFileSync(input, createModel().ndjson)
  const imported = await run(['import', input, ...database], { program })
  if (imported.exitCode !== 0) throw new Error(imported.stderr)
  const limits = ['--graphql-max-fields', '100000', '--access-token-ttl', '86400']
  const { url, kill } = await serve([...database, ...limits, '--log-level', 'silent'], { program })
  return {
    url,
    async [Symbol.asyncDispose]() {
      await kill('SIGKILL')
      rmSync(directory, { recursive: true })
    },
  }
}
