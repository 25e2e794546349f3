// A gateway in its own process that serves the model's workspaces, from these sources or from a copy of them.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createModel } from './model.ts'

const SOURCES = fileURLToPath(new URL('../../../src', import.meta.url))

export interface ServedModel extends AsyncDisposable {
  readonly url: string
}

/** `sources` is a folder with a `main.ts`. Throws when the gateway ends before it listens. */
export async function serveModel(sources: string = SOURCES): Promise<ServedModel> {
  const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-fuzz-'))
  const main = join(sources, 'main.ts')
  const input = join(directory, 'model.ndjson')
  const database = `file:${join(directory, 'workspace.db')}`
  writeFileSync(input, createModel().ndjson)
  await promisify(execFile)(process.execPath, [main, 'import', input, '--database', database])
  const args = [
    main,
    'serve',
    '--database',
    database,
    '--port',
    '0',
    '--graphql-max-fields',
    '100000',
    '--access-token-ttl',
    '86400',
    '--log-level',
    'silent',
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  let output = ''
  for await (const chunk of child.stdout) {
    output += chunk
    if (output.includes('\n')) break
  }
  const url = /listening on (\S+)/.exec(output)?.[1]
  if (url === undefined) throw new Error('the gateway ended before it listened')
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
      rmSync(directory, { recursive: true })
    },
  }
}
