// `node test/upgrades/make-fixtures.ts NAME=DIRECTORY…`: writes databases as earlier commits left them, as SQL, one
// file per commit and engine. DIRECTORY is a checkout of the commit NAME with its packages.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execute } from '../support/execute.ts'
import { startPostgres, unpackPostgres } from '../support/postgres-server.ts'
import { postgresRows } from './postgres-rows.ts'
import { sqliteScript } from './sqlite-script.ts'
import { READS, type Upgraded, WORLD, WORLD_USER } from './world.ts'

const JSON_BODY = { 'content-type': 'application/json' }

await using stack = new AsyncDisposableStack()
const server = stack.use(await startPostgres(stack.use(await unpackPostgres())))
for (const argument of process.argv.slice(2)) {
  const [name = '', directory = ''] = argument.split('=')
  const file = join(mkdtempSync(join(tmpdir(), 'workspace-gateway-fixture-')), 'workspace.db')
  write(`${name}.sqlite`, await fill(directory, `file:${file}`), sqliteScript(file))
  const database = `wg_${name}`
  const migrations = await postgresMigrations(directory)
  if (migrations === null) continue
  await execute(server.url('postgres'), `create database ${database} template template0 encoding 'UTF8' locale 'C'`)
  const upgraded = await fill(directory, server.url(database))
  write(`${name}.postgres`, upgraded, [...migrations, await postgresRows(server.url(database))].join('\n'))
}

function write(name: string, upgraded: Upgraded, script: string): void {
  const head = `-- ${JSON.stringify(upgraded)}`
  writeFileSync(new URL(`fixtures/${name}.sql`, import.meta.url), `${head}\n${script.replaceAll(/[ \t]+$/gm, '')}\n`)
}

/** Fills the database with the commit's own import, server and sign-in. */
async function fill(directory: string, database: string): Promise<Upgraded> {
  const world = join(mkdtempSync(join(tmpdir(), 'workspace-gateway-world-')), 'world.ndjson')
  writeFileSync(world, WORLD)
  const imported = start(directory, ['import', world, '--database', database])
  if ((await once(imported, 'exit'))[0] !== 0) throw new Error(`${directory} does not import`)
  const gateway = start(directory, ['serve', '--port', '0', '--database', database])
  let said = ''
  gateway.stdout?.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const ended = once(gateway, 'exit')
  while (!/listening on (\S+)\n/.test(said)) {
    const event = await Promise.race([once(gateway.stdout ?? gateway, 'data'), ended.then(() => 'ended' as const)])
    if (event === 'ended') throw new Error(`${directory} does not serve`)
  }
  const url = /listening on (\S+)/.exec(said)?.[1] ?? ''
  const post = async (path: string, method: string, body: object) => {
    const answer = await fetch(url + path, { method, headers: JSON_BODY, body: JSON.stringify(body) })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
    return answer.json() as Promise<{ accessToken: string; refreshToken: string }>
  }
  const tokens = await post('/login', 'POST', { email: WORLD_USER })
  const { refreshToken: loggedOut } = await post('/login', 'POST', { email: WORLD_USER })
  await post('/logout', 'DELETE', { refreshToken: loggedOut })
  const bodies: Record<string, string> = {}
  for (const path of READS) {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${tokens.accessToken}` } })
    bodies[path] = await answer.text()
  }
  gateway.kill('SIGTERM')
  await ended
  return { at: Date.now(), ...tokens, ended: loggedOut, bodies }
}

function start(directory: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['src/main.ts', ...args], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The SQL with which the commit creates its schema; null if it does not support PostgreSQL. */
async function postgresMigrations(directory: string): Promise<readonly string[] | null> {
  const path = join(directory, 'src/store/postgres/migrations.ts')
  const source = readSource(path)
  if (source === null) return null
  const copy = path.replace(/\.ts$/, '-shown.ts')
  writeFileSync(copy, `${source}\nexport { MIGRATIONS }\n`)
  const { MIGRATIONS } = await import(pathToFileURL(copy).href)
  return [
    'create schema workspace_gateway;',
    'create table workspace_gateway.schema_version (version integer not null);',
    ...MIGRATIONS,
  ]
}

function readSource(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
