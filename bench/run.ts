// npm run bench: every server in a process of its own, same machine, data, queries and load; rounds interleaved, medians.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type LoadRequest, type Measurement, measure } from './load.ts'
import { type Goal, ROWS, type Row, type ServerName } from './rows.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { emailOf, writeWorkspaces } from './workspaces.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    users: { type: 'string', default: '20000' },
    signedIn: { type: 'string', default: '2000' },
    json: { type: 'string', default: 'bench-results.json' },
  },
})

const rows = ROWS.filter(({ name }) => options.only === undefined || name.includes(options.only))
if (rows.length === 0) throw new Error(`no row is called ${options.only}: ${ROWS.map(({ name }) => name).join(', ')}`)

let lastPort = 42_000 + (process.pid % 1_000) * 10
const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-bench-'))
const database = join(directory, 'workspace.db')

try {
  const tokens = await prepare()
  const results = []
  for (const row of rows) results.push(await runRow(row, tokens))
  writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)
  const short = results.filter(({ isMet }) => !isMet)
  process.stdout.write(
    short.length === 0 ? '\nall goals met\n' : `\nshort of a goal: ${short.map(({ name }) => name).join(', ')}\n`,
  )
  process.exitCode = short.length === 0 ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function prepare(): Promise<readonly string[]> {
  const users = Number(options.users)
  const input = join(directory, 'workspaces.ndjson')
  process.stderr.write(`importing ${users} users\n`)
  await writeWorkspaces(input, users)
  execFileSync(process.execPath, [MAIN, 'import', input, '--database', `file:${database}`], { stdio: 'ignore' })
  await using gateway = await start('gateway', '')
  const tokens: string[] = []
  const stride = Math.max(1, Math.floor(users / Number(options.signedIn)))
  for (let user = 0; user < users && tokens.length < Number(options.signedIn); user += stride) {
    const response = await fetch(`${gateway.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: emailOf(user) }),
    })
    const { accessToken } = (await response.json()) as { accessToken: string }
    tokens.push(accessToken)
  }
  return tokens
}

async function start(name: ServerName, body: string): Promise<ServerProcess> {
  const gateway = [MAIN, 'serve', '--database', `file:${database}`, '--port', '0', '--access-token-ttl', '86400']
  if (name === 'gateway') return startServer(gateway, {})
  if (name === 'gateway without cache') return startServer([...gateway, '--cache-bytes', '0'], {})
  const bodyFile = join(directory, 'body')
  writeFileSync(bodyFile, body)
  const script = fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url))
  return startServer([script], { PORT: String(freePort()), DATABASE: database, BODY: bodyFile })
}

function freePort(): number {
  lastPort += 1
  return lastPort
}

async function runRow(row: Row, tokens: readonly string[]) {
  process.stdout.write(`\n${row.name}\n`)
  const sample = await sampleOf(row, tokens)
  const requests = tokens.map((token) => row.request(token, sample.etag))
  const servers = new Map<ServerName, ServerProcess>()
  const measured = new Map<ServerName, Measurement[]>()
  try {
    for (const name of row.servers) {
      const server = await start(name, sample.body)
      servers.set(name, server)
      measured.set(name, [])
      await warmUp(server, requests)
    }
    for (let round = 0; round < Number(options.rounds); round += 1) {
      for (const [name, server] of servers)
        measured.get(name)?.push(await measure(server, requests, Number(options.seconds)))
    }
    return report(row, servers, measured)
  } finally {
    for (const server of servers.values()) await server[Symbol.asyncDispose]()
  }
}

/** Every token once, so that no round pays for what only the first request of a token pays, then the row itself. */
async function warmUp(server: ServerProcess, requests: readonly LoadRequest[]): Promise<void> {
  await measure(server, requests, 2)
}

async function sampleOf(
  row: Row,
  tokens: readonly string[],
): Promise<{ readonly body: string; readonly etag: string }> {
  await using gateway = await start('gateway', '')
  const { method, path, headers, body } = row.request(tokens[0] ?? '', '"none"')
  const response = await fetch(`${gateway.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
  return { body: await response.text(), etag: response.headers.get('etag') ?? '' }
}

function report(
  row: Row,
  servers: ReadonlyMap<ServerName, ServerProcess>,
  measured: ReadonlyMap<ServerName, Measurement[]>,
) {
  const medians = new Map([...measured].map(([name, rounds]) => [name, medianOf(rounds)]))
  const bare = medians.get('bare')
  for (const [name, median] of medians) {
    const cells = [
      name.padEnd(22),
      `${Math.round(median.requestsPerSecond)} req/s`.padStart(14),
      `p50 ${median.p50Milliseconds} ms`.padStart(12),
      `p99 ${median.p99Milliseconds} ms`.padStart(12),
      `${median.cpuMicrosecondsPerRequest.toFixed(1)} µs CPU`.padStart(15),
      `${servers.get(name)?.peakMemoryMiB().toFixed(0)} MiB`.padStart(10),
      bare ? `${(median.requestsPerSecond / bare.requestsPerSecond).toFixed(2)} of bare`.padStart(14) : '',
    ]
    process.stdout.write(`  ${cells.join('')}\n`)
  }
  const goals = row.goals.map((goal) => ({ ...goal, ...ratioOf(goal, row, measured) }))
  for (const { against, atLeast, ratio, cpuRatio } of goals) {
    const verdict = ratio >= atLeast ? 'met' : 'SHORT'
    process.stdout.write(
      `  goal ${verdict}: ${row.subject} ≥ ${atLeast} × ${against}: ${ratio.toFixed(2)} (by CPU per request ${cpuRatio.toFixed(2)})\n`,
    )
  }
  return {
    name: row.name,
    medians: Object.fromEntries(medians),
    goals,
    isMet: goals.every(({ ratio, atLeast }) => ratio >= atLeast),
  }
}

/** The median of the ratios of each round: a machine whose speed drifts drifts for both. */
function ratioOf({ against }: Goal, { subject }: Row, measured: ReadonlyMap<ServerName, Measurement[]>) {
  const [ours = [], theirs = []] = [measured.get(subject), measured.get(against)]
  const ratio = median(
    ours.map((one, round) => one.requestsPerSecond / (theirs[round]?.requestsPerSecond ?? Number.NaN)),
  )
  const cpuRatio = median(
    ours.map((one, round) => (theirs[round]?.cpuMicrosecondsPerRequest ?? Number.NaN) / one.cpuMicrosecondsPerRequest),
  )
  return { ratio, cpuRatio }
}

function medianOf(rounds: readonly Measurement[]): Measurement {
  const of = (field: keyof Measurement) => median(rounds.map((round) => round[field]))
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Milliseconds: of('p50Milliseconds'),
    p99Milliseconds: of('p99Milliseconds'),
    cpuMicrosecondsPerRequest: of('cpuMicrosecondsPerRequest'),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
