// Measures hundreds of clients that request large answers and do not read them:
// node test/faults/many-stalled-readers.ts [READERS[/SECOND] [KIND,…|all [OPTIONS OF SERVE]]]
// With /SECOND, this many readers connect in a second; without it, all connect at once.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createClient, requireSession } from '../support/client.ts'
import { run, serve } from '../support/command-line.ts'
import { atRate, percentile } from '../support/measurements.ts'
import type { WireRequest } from '../support/wire.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from '../support/workspaces.ts'
import type { Sighting } from './watch-process.ts'

const MAX_GROWTH_BYTES = 150_000_000
const MAX_OPEN_MS = 60_000
const MAX_RATIO = 2
/** Requests of the other clients in a second. */
const OTHERS = 50
/** As long as the readers stall. In a shorter time, a single pause of the machine is the slowest hundredth. */
const QUIET_MS = 25_000
/** The warm-up before the measurement: the gateway has then served for a while, also clients that come and go. */
const WARM_UP_READS = 3_000
const WARM_UP_CONNECTIONS = 1_000

/**
 * Connections of the other clients. All are open before any client stalls, because a new one would wait behind hundreds
 * of others.
 */
const OTHERS_CONNECTIONS = 8

const [, , count = '500', kinds = 'all', ...options] = process.argv
const [readers = 0, perSecond = Number.POSITIVE_INFINITY] = count.split('/').map(Number)
/** Compressed, a file has three quarters of this size, still more than the kernel buffers for a connection. */
const FILES = Array.from(
  { length: 200 },
  (_, n) => `{"path":"f${n}","content":"${randomBytes(60_000).toString('base64url')}"}`,
)
const WORLD = [
  SMALL_WORLD,
  documentLine('project', ANA, '{"id":"large"}'),
  exportLine(ANA, { r: 'large', createdAt: '2026-01-01T00:00:00Z', elements: FILES }),
  ...FILES.slice(0, 150).map((text, n) => documentLine('template', ANA, `{"id":"t${n}","file":${text}}`)),
].join('')

const GRAPHQL = { method: 'POST', target: '/graphql' } as const
const query = (comment = '') => JSON.stringify({ query: `{ me { templates { data } } }${comment}` })

/** The request of each reader. `Connection: close` removes refused readers, so that only stalled ones stay open. */
const KINDS: Readonly<Record<string, (reader: number) => WireRequest & { readonly coding?: string }>> = {
  export: () => ({ target: '/exports?r=large' }),
  'compressed export': () => ({ target: '/exports?r=large', coding: 'gzip' }),
  list: () => ({ target: '/templates' }),
  'compressed list': () => ({ target: '/templates', coding: 'br' }),
  GraphQL: () => ({ ...GRAPHQL, body: query() }),
  'list at another address each': (reader) => ({
    target: `/templates?reader=${reader}`,
    headers: [['Connection', 'close']],
  }),
  'other GraphQL each': (reader) => ({
    ...GRAPHQL,
    body: query(` # ${reader}`),
    headers: [['Connection', 'close']],
  }),
}

const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-stalled-'))
const flags = ['--database', `file:${join(directory, 'workspace.db')}`]
const file = join(directory, 'import.ndjson')
writeFileSync(file, WORLD)
const imported = await run(['import', file, ...flags])
if (imported.exitCode !== 0) throw new Error(imported.stderr)
let isGood = true
try {
  for (const kind of kinds === 'all' ? Object.keys(KINDS) : kinds.split(',')) isGood = (await measure(kind)) && isGood
} finally {
  rmSync(directory, { recursive: true, force: true })
}
console.log(isGood ? 'good' : 'BAD')
process.exitCode = isGood ? 0 : 1

/** Measures one kind of request with a gateway of its own. */
async function measure(kind: string): Promise<boolean> {
  const gateway = await serve([...flags, '--log-level', 'silent', ...options])
  const others = createClient(gateway.url, { connections: OTHERS_CONNECTIONS })
  try {
    const { accessToken } = await requireSession(others, ANA)
    const ben = await requireSession(others, BEN)
    const read = async () => {
      const { status } = await others.get('/projects', ben.accessToken)
      if (status !== 200) throw new Error(`another client was answered ${status}`)
    }
    // The first GraphQL request loads its code.
    await others.graphql('{ me { email } }', ben.accessToken)
    for (let reads = 0; reads < WARM_UP_READS; reads += OTHERS_CONNECTIONS) {
      await Promise.all(Array.from({ length: OTHERS_CONNECTIONS }, read))
    }
    for (let opened = 0; opened < WARM_UP_CONNECTIONS; opened += 1) {
      using visitor = createClient(gateway.url, { connections: 1 })
      await visitor.get('/projects', ben.accessToken)
    }
    await using clients = stall(gateway.url, kind, accessToken)
    await once(clients, 'message')
    // This thread also runs during the quiet seconds, so that both measurements include it.
    await using watching = watch(gateway.process.pid)
    const look = async (): Promise<Sighting> => (await once(watching, 'message'))[0]
    // The starts of both threads are not part of the measurement.
    await look()
    let isQuietOver = false
    const quiet = atRate(OTHERS, read, () => isQuietOver)
    await delay(QUIET_MS)
    isQuietOver = true
    const alone = percentile(await quiet, 0.99)

    const before = await look()
    let isOver = false
    const meanwhile = atRate(OTHERS, read, () => isOver)
    const start = performance.now()
    clients.postMessage('ask')
    await once(clients, 'message')
    let peak = 0
    let isAnyAccepted = false
    while (performance.now() - start < MAX_OPEN_MS * 2) {
      const { residentBytes, openFiles } = await look()
      peak = Math.max(peak, residentBytes)
      if (openFiles > before.openFiles) isAnyAccepted = true
      else if (isAnyAccepted) break
    }
    const closedMs = performance.now() - start
    isOver = true
    const beside = percentile(await meanwhile, 0.99)
    clients.postMessage('read')
    const [statuses]: (readonly string[])[] = await once(clients, 'message')
    const countOf = (wanted: string) => statuses?.filter((status) => status === wanted).length ?? 0
    const [stalled, refused] = [countOf('200'), countOf('503')]
    if (stalled + refused !== readers) throw new Error(`${kind}: readers were answered ${[...new Set(statuses)]}`)
    const grown = peak - before.residentBytes
    console.log(
      `${kind}: ${readers} readers, ${stalled} stalled, ${refused} refused: memory grew by ${Math.round(grown / 1e6)} MB, all closed after ` +
        `${(closedMs / 1_000).toFixed(0)} s, p99 of others ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside them ` +
        `(${(beside / alone).toFixed(2)} x); load average ${loadavg()[0]?.toFixed(1)}`,
    )
    return stalled > 0 && grown < MAX_GROWTH_BYTES && closedMs < MAX_OPEN_MS && beside / alone <= MAX_RATIO
  } finally {
    others[Symbol.dispose]()
    await gateway.kill('SIGKILL')
  }
}

function watch(pid: number | undefined): Worker {
  return new Worker(new URL('watch-process.ts', import.meta.url), { workerData: { pid } })
}

function stall(url: string, kind: string, accessToken: string): Worker {
  const requests = Array.from({ length: readers }, (_, reader): WireRequest => {
    const { coding = 'identity', headers = [], ...request } = KINDS[kind]?.(reader) ?? fail(kind)
    return {
      ...request,
      headers: [
        ['Authorization', `Bearer ${accessToken}`],
        ['Accept-Encoding', coding],
        ['Content-Type', 'application/json'],
        ...headers,
      ],
    }
  })
  return new Worker(new URL('stalling-clients.ts', import.meta.url), { workerData: { url, requests, perSecond } })
}

function fail(kind: string): never {
  throw new Error(`${kind}: there are ${Object.keys(KINDS).join(', ')}`)
}
