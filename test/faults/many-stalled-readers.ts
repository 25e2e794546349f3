// Hundreds of clients that ask for large answers and do not read them: node test/faults/many-stalled-readers.ts [READERS [OPTIONS OF SERVE]]
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, requireSession } from '../support/client.ts'
import { run, serve } from '../support/command-line.ts'
import { atRate, percentile, residentBytes } from '../support/measurements.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'

const MAX_GROWTH_BYTES = 150_000_000
const MAX_OPEN_MS = 60_000
const MAX_RATIO = 2
/** Of the others, a second. */
const OTHERS = 50
const QUIET_MS = 10_000

/** Of the others, opened or not when nobody stalls. */
const OTHERS_CONNECTIONS = 8

const [, , count = '500', ...options] = process.argv
const readers = Number(count)
/** Half of it when compressed, and still more than the kernel holds for a connection. */
const FILES = Array.from(
  { length: 200 },
  (_, n) => `{"path":"f${n}","content":"${randomBytes(40_000).toString('hex')}"}`,
)
const WORLD = [
  SMALL_WORLD,
  documentLine('project', ANA, '{"id":"large"}'),
  exportLine(ANA, { r: 'large', createdAt: '2026-01-01T00:00:00Z', elements: FILES }),
  ...FILES.slice(0, 100).map((text, n) => documentLine('template', ANA, `{"id":"t${n}","file":${text}}`)),
].join('')

const query = JSON.stringify({ query: '{ me { templates { data } } }' })
const KINDS = [
  { name: 'export', target: '/exports?r=large', coding: 'identity' },
  { name: 'compressed export', target: '/exports?r=large', coding: 'gzip' },
  { name: 'list', target: '/templates', coding: 'identity' },
  { name: 'compressed list', target: '/templates', coding: 'br' },
  { name: 'GraphQL', target: '/graphql', coding: 'identity', body: query },
] as const

const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-stalled-'))
const flags = ['--database', `file:${join(directory, 'workspace.db')}`]
const file = join(directory, 'import.ndjson')
writeFileSync(file, WORLD)
await run(['import', file, ...flags])
let isGood = true
try {
  for (const kind of KINDS) isGood = (await measure(kind)) && isGood
} finally {
  rmSync(directory, { recursive: true, force: true })
}
console.log(isGood ? 'good' : 'BAD')
process.exitCode = isGood ? 0 : 1

/** A gateway of its own for each kind. */
async function measure(kind: (typeof KINDS)[number]): Promise<boolean> {
  const gateway = await serve([...flags, '--log-level', 'silent', ...options])
  const others = createClient(gateway.url, { connections: OTHERS_CONNECTIONS })
  try {
    const { accessToken } = await requireSession(others, ANA)
    const ben = await requireSession(others, BEN)
    const read = async () => {
      const { status } = await others.get('/projects', ben.accessToken)
      if (status !== 200) throw new Error(`another client was answered ${status}`)
    }
    let isQuietOver = false
    const quiet = atRate(OTHERS, read, () => isQuietOver)
    await delay(QUIET_MS)
    isQuietOver = true
    const alone = percentile(await quiet, 0.99)

    const before = residentBytes(gateway.process.pid)
    const socketsBefore = socketsOf(gateway.process.pid)
    let isOver = false
    const meanwhile = atRate(OTHERS, read, () => isOver)
    const start = performance.now()
    const sockets = await Promise.all(Array.from({ length: readers }, () => stall(gateway.url, kind, accessToken)))
    const open = () => socketsOf(gateway.process.pid) - socketsBefore - OTHERS_CONNECTIONS
    let peak = before
    while (open() > 0 && performance.now() - start < MAX_OPEN_MS * 2) {
      peak = Math.max(peak, residentBytes(gateway.process.pid))
      await delay(100)
    }
    const closedMs = performance.now() - start
    isOver = true
    const beside = percentile(await meanwhile, 0.99)
    for (const socket of sockets) socket.destroy()
    const grown = peak - before
    console.log(
      `${kind.name}: ${readers} readers: memory grew by ${Math.round(grown / 1e6)} MB, all closed after ` +
        `${(closedMs / 1_000).toFixed(0)} s, p99 of others ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside them ` +
        `(${(beside / alone).toFixed(2)} x); load average ${loadavg()[0]?.toFixed(1)}`,
    )
    return grown < MAX_GROWTH_BYTES && closedMs < MAX_OPEN_MS && beside / alone <= MAX_RATIO
  } finally {
    others[Symbol.dispose]()
    await gateway.kill('SIGKILL')
  }
}

/** Connections of a process: whoever does not read is not told that theirs is gone. */
function socketsOf(pid: number | undefined): number {
  return readdirSync(`/proc/${pid}/fd`).filter((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length
}

/** Asks, and reads nothing. */
async function stall(url: string, kind: (typeof KINDS)[number], accessToken: string): Promise<Socket> {
  const socket = await openSocket(url)
  socket.pause()
  const isGraphQL = 'body' in kind
  socket.write(
    requestText({
      method: isGraphQL ? 'POST' : 'GET',
      target: kind.target,
      body: isGraphQL ? kind.body : '',
      headers: [
        ['Authorization', `Bearer ${accessToken}`],
        ['Accept-Encoding', kind.coding],
        ['Content-Type', 'application/json'],
      ],
    }),
  )
  return socket
}
