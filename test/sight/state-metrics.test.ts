// Tests the metrics of momentary state. Each test causes a value and reads it.
import { randomBytes, randomUUID } from 'node:crypto'
import { on, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { execute } from '../support/execute.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { POSTGRES_DIRECTORY } from '../support/postgres.ts'
import { startReplicated } from '../support/postgres-replica.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'
import { namesIn, serveWatched, startWatched, sumOf } from './watched.ts'

test('the memory of a large answer is counted until its client leaves, and then released', async () => {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  // Far more than the kernel buffers for a connection.
  const elements = Array.from({ length: 400 }, () => `{"content":"${randomBytes(32_768).toString('hex')}"}`)
  const stdin =
    documentLine('project', ANA, '{"id":"p"}') +
    exportLine(ANA, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements })
  expect((await runHere(['import', '-', '--database', database], { stdin })).exitCode).toBe(0)
  const { serving, metrics } = await serveWatched(['--database', database])
  const { accessToken } = await openSession(serving.url, ANA)
  const inFlight = async () => sumOf(await metrics(), 'workspace_gateway_in_flight_bytes')
  expect(await inFlight()).toBe(0)
  const socket = await openSocket(serving.url)
  onTestFinished(() => void socket.destroy())
  socket.pause()
  const headers = [
    ['Authorization', `Bearer ${accessToken}`],
    ['Accept-Encoding', 'identity'],
  ] as const
  socket.write(requestText({ target: '/exports?r=p', headers }))
  await once(socket, 'readable')
  await expect.poll(inFlight).toBeGreaterThan(10_000)
  socket.destroy()
  await expect.poll(inFlight).toBe(0)
})

test('the event loop delay is that of the longest turn since the last scrape', async () => {
  const path = join(temporaryDirectory(), 'stand-still.mjs')
  const standStill = 'const end = performance.now() + 400; while (performance.now() < end);'
  writeFileSync(path, `process.on('SIGUSR2', () => { ${standStill} })`)
  const { serving, metrics } = await serveWatched(['--no-demo'], { NODE_OPTIONS: `--import ${path}` })
  const longest = async () => {
    const text = await metrics()
    return Math.min(...['max', 'p99'].map((which) => sumOf(text, `nodejs_eventloop_lag_${which}_seconds`)))
  }
  // The measurement starts anew with each scrape.
  await longest()
  /**
   * Waits for turns of the event loop in which its timers run: each request arrives in a later turn than the answer
   * before it.
   */
  const turns = async () => {
    for (const _ of [1, 2]) await ask(`${serving.url}/healthz`)
  }
  // Blocks before each read, because one long turn is not in the p99 of more than a hundred short turns. Blocks twice,
  // because the measurement begins with the first turn after a scrape.
  const afterStandStill = async () => {
    for (const _ of [1, 2]) {
      serving.process.kill('SIGUSR2')
      await turns()
    }
    return longest()
  }
  await expect.poll(afterStandStill).toBeGreaterThan(0.3)
})

/** Reads until the whole answer has arrived: head and body may come in two chunks. */
async function wholeAnswer(socket: Socket): Promise<void> {
  let text = ''
  for await (const [chunk] of on(socket, 'data') as AsyncIterable<[Buffer]>) {
    text += chunk.toString('latin1')
    const [, head, length = '0'] = /^(.*?content-length: (\d+).*?\r\n\r\n)/is.exec(text) ?? []
    if (head !== undefined && text.length >= head.length + Number(length)) return
  }
}

test('the queue time is how long a request waited for its turn: the later of many concurrent ones wait', async () => {
  // On a slow machine, the standstill below would be an overload.
  const { serving, accessToken, metrics } = await startWatched(['--max-queue-delay', '60000'])
  const count = 200
  const request = requestText({ target: '/projects', headers: [['Authorization', `Bearer ${accessToken}`]] })
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(serving.url)))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  const askAll = () => sockets.forEach((socket) => void socket.write(request))
  const [first] = [Promise.all(sockets.map(wholeAnswer)), askAll()]
  await first
  const waited = async () => {
    const text = await metrics()
    const name = 'workspace_gateway_queue_time_seconds'
    const all = sumOf(text, `${name}_count`)
    return { all, notAtAll: sumOf(text, `${name}_bucket`, { le: '0.0001' }), seconds: sumOf(text, `${name}_sum`) }
  }
  const before = await waited()
  // All arrive in one turn, and no more than 64 begin in it.
  serving.process.kill('SIGSTOP')
  const second = Promise.all(sockets.map(wholeAnswer))
  await Promise.all(sockets.map((socket) => new Promise((written) => socket.write(request, written))))
  serving.process.kill('SIGCONT')
  await second
  const after = await waited()
  expect(after.all - before.all).toBe(count)
  expect(after.all - after.notAtAll - (before.all - before.notAtAll)).toBeGreaterThanOrEqual(100)
  expect(after.seconds - before.seconds).toBeGreaterThan(100 * 0.0001)
})

test.skipIf(!canMount())(
  'a gateway with a full disk is not ready until there is room, although its database answers',
  async () => {
    const disk = smallDisk(4 * 1_048_576)
    const { metrics } = await serveWatched(['--database', `file:${join(disk.path, 'workspace.db')}`])
    const state = async () => {
      const text = await metrics()
      return ['ready', 'database_up'].map((name) => sumOf(text, `workspace_gateway_${name}`))
    }
    expect(await state()).toEqual([1, 1])
    disk.fill()
    await expect.poll(state).toEqual([0, 1])
    disk.empty()
    await expect.poll(state).toEqual([1, 1])
  },
)

test('a gateway that shuts down is not ready', async () => {
  const { serving, metrics } = await serveWatched(['--no-demo', '--shutdown-delay', '60'])
  const ready = async () => sumOf(await metrics(), 'workspace_gateway_ready')
  expect(await ready()).toBe(1)
  serving.process.kill('SIGTERM')
  await expect.poll(ready).toBe(0)
})

test.skipIf(POSTGRES_DIRECTORY === null)(
  'workers report a database that hangs as away, from the first scrape on',
  async () => {
    await using server = await startPostgres({ directory: POSTGRES_DIRECTORY ?? '' })
    const { serving, metrics } = await serveWatched(['--database', server.url('postgres'), '--workers', '2'])
    const linesOf = (text: string) => text.match(/^workspace_gateway_(?:ready|database_up) .*$/gm)?.toSorted()
    expect(linesOf(await metrics())).toEqual(['workspace_gateway_database_up 1', 'workspace_gateway_ready 1'])
    await server.freeze()
    expect(linesOf(await metrics())).toEqual(['workspace_gateway_database_up 0', 'workspace_gateway_ready 0'])
    await server.thaw()
    await serving.kill('SIGTERM')
  },
)

test.skipIf(POSTGRES_DIRECTORY === null)(
  'the metrics say whether the replica is used, and how far it lags',
  async () => {
    await using servers = await startReplicated({ directory: POSTGRES_DIRECTORY ?? '' })
    const name = `wg_${randomUUID().replaceAll('-', '')}`
    await execute(servers.primary.url('postgres'), `create database ${name}`)
    const [database, replica] = [servers.primary.url(name), servers.standby.url(name)]
    const stdin = documentLine('project', ANA, '{"id":"p"}')
    expect((await runHere(['import', '-', '--database', database], { stdin })).exitCode).toBe(0)
    await servers.untilCaughtUp()
    const watched = await serveWatched(['--database', database, '--database-replica', replica])
    const { serving, metrics } = watched
    const LAG = 'workspace_gateway_replica_lag_seconds'
    const used = async () => sumOf(await metrics(), 'workspace_gateway_replica_used')
    const lag = async () => sumOf(await metrics(), LAG)
    await expect.poll(used).toBe(1)
    expect(namesIn(await metrics())).toContain(LAG)
    await servers.pauseReplay()
    const { accessToken } = await openSession(serving.url, ANA)
    await expect.poll(lag).toBeGreaterThan(0)
    await servers.resumeReplay()
    await servers.untilCaughtUp()
    await expect.poll(lag).toBe(0)
    await servers.standby.crash()
    const read = () => ask(`${serving.url}/projects`, { headers: bearer(accessToken) })
    expect((await read()).status).toBe(200)
    await expect.poll(used).toBe(0)
    expect(namesIn(await metrics())).not.toContain(LAG)
    await serving.kill('SIGTERM')
  },
)
