// `npm run test:upgrades`: replaces nodes of an earlier commit by nodes of this one, one by one, on one database, while clients read,
// refresh, sign in and sign out. No request may fail, and nobody may be signed out. Needs the git history.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execute } from '../support/execute.ts'
import { startPostgres, unpackPostgres } from '../support/postgres-server.ts'
import { READS, WORLD, WORLD_USER } from './world.ts'

const HERE = fileURLToPath(new URL('../..', import.meta.url))
/** The last commit before work on 0.2.0 began. */
const EARLIER = process.argv[2] ?? 'a8a3d8d'
const SIDE_BY_SIDE_MS = Number(process.argv[3] ?? 10_000)
const CLIENTS = 8
const JSON_BODY = { 'content-type': 'application/json' }

interface Node {
  readonly url: string
  readonly process: ChildProcess
}

interface Counts {
  requests: number
  failed: string[]
}

const earlier = checkOut(EARLIER)
await using stack = new AsyncDisposableStack()
const server = stack.use(await startPostgres(stack.use(await unpackPostgres())))
await execute(server.url('postgres'), `create database rolling template template0 encoding 'UTF8' locale 'C'`)
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-rolling-'))
for (const [engine, database] of [
  ['SQLite', `file:${join(directory, 'workspace.db')}`],
  ['PostgreSQL', server.url('rolling')],
] as const) {
  const { requests, failed } = await roll(database)
  const refusal = await refusalOf(database)
  process.stdout.write(`${engine}: ${requests} requests, ${failed.length} failed; ${EARLIER} afterwards: ${refusal}\n`)
  for (const line of failed.slice(0, 20)) process.stdout.write(`  ${line}\n`)
  if (failed.length > 0 || requests < 500 || !/schema version \d+, this program knows \d+/.test(refusal))
    process.exitCode = 1
}

/** Uses the packages of today. */
function checkOut(commit: string): string {
  const target = mkdtempSync(join(tmpdir(), `workspace-gateway-${commit}-`))
  const archive = execFileSync('git', ['archive', commit], { cwd: HERE, maxBuffer: 1e9 })
  execFileSync('tar', ['-x', '-C', target], { input: archive })
  symlinkSync(join(HERE, 'node_modules'), join(target, 'node_modules'))
  return target
}

async function roll(database: string): Promise<Counts> {
  const world = join(directory, 'world.ndjson')
  writeFileSync(world, WORLD)
  await finished(start(earlier, ['import', world, '--database', database]))
  const nodes = [await serve(earlier, database), await serve(earlier, database)]
  const counts: Counts = { requests: 0, failed: [] }
  const over = new AbortController()
  const clients = Array.from({ length: CLIENTS }, () => client(nodes, counts, over.signal))
  await pause()
  for (const old of [...nodes]) {
    // First removed from the balancer, so that requests on their way to it are answered.
    nodes.splice(nodes.indexOf(old), 1)
    await stop(old)
    nodes.push(await serve(HERE, database))
    await pause()
  }
  over.abort()
  await Promise.all(clients)
  for (const node of nodes) await stop(node)
  return counts
}

/** Keeps one session for the whole time, and signs in and out beside it; each request goes to a random node. */
async function client(nodes: readonly Node[], counts: Counts, over: AbortSignal): Promise<void> {
  const ask = async (method: string, path: string, body?: object, accessToken?: string, wanted = 200) => {
    const node = nodes[Math.floor(Math.random() * nodes.length)]
    const authorization = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    counts.requests += 1
    try {
      const answer = await fetch(`${node?.url}${path}`, {
        method,
        headers: { ...JSON_BODY, ...authorization },
        ...init,
      })
      const text = await answer.text()
      if (answer.status !== wanted) counts.failed.push(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`)
      return { text, json: () => JSON.parse(text) }
    } catch (error) {
      counts.failed.push(`${method} ${path}: ${error instanceof Error ? (error.cause ?? error) : error}`)
      return { text: '', json: () => ({}) }
    }
  }
  const kept = (await ask('POST', '/login', { email: WORLD_USER })).json()
  const bodies = new Map<string, string>()
  while (!over.aborted) {
    for (const path of READS) {
      const { text } = await ask('GET', path, undefined, kept.accessToken)
      if ((bodies.get(path) ?? text) !== text) counts.failed.push(`${path} answered something else`)
      bodies.set(path, text)
    }
    const { accessToken } = (await ask('POST', '/token', { refreshToken: kept.refreshToken })).json()
    await ask('GET', '/projects', undefined, accessToken)
    const other = (await ask('POST', '/login', { email: WORLD_USER })).json()
    await ask('GET', '/templates', undefined, other.accessToken)
    await ask('DELETE', '/logout', { refreshToken: other.refreshToken })
    // On any node, of either version.
    await ask('GET', '/templates', undefined, other.accessToken, 401)
    await ask('POST', '/token', { refreshToken: other.refreshToken }, undefined, 401)
  }
  await ask('POST', '/token', { refreshToken: kept.refreshToken })
}

async function refusalOf(database: string): Promise<string> {
  const child = start(earlier, ['serve', '--port', '0', '--database', database], 'pipe')
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  return `exit code ${code}, ${said.trim()}`
}

function start(root: string, args: readonly string[], stderr: 'pipe' | 'ignore' = 'ignore'): ChildProcess {
  return spawn(process.execPath, [join(root, 'src/main.ts'), ...args], { cwd: root, stdio: ['ignore', 'pipe', stderr] })
}

async function finished(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`ended with ${code}: ${child.spawnargs.join(' ')}`)
}

async function serve(root: string, database: string): Promise<Node> {
  const child = start(root, ['serve', '--port', '0', '--database', database])
  let said = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const ended = once(child, 'exit')
  while (!/listening on (\S+)\n/.test(said)) {
    const event = await Promise.race([once(child.stdout ?? child, 'data'), ended.then(() => 'ended' as const)])
    if (event === 'ended') throw new Error(`a node of ${root} does not serve`)
  }
  return { url: /listening on (\S+)/.exec(said)?.[1] ?? '', process: child }
}

async function stop(node: Node): Promise<void> {
  const ended = once(node.process, 'exit')
  node.process.kill('SIGTERM')
  await ended
}

/** Waits while old and new nodes serve side by side. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SIDE_BY_SIDE_MS))
}
