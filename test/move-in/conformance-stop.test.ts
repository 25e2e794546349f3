// conformance that is told to stop: it sends no further checks and leaves no session behind.
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

type Answer = (response: ServerResponse) => boolean

/** Sends SIGINT at the first request that `isIt` picks, which `answer` answers. `count` counts the requests so far. */
function stopAt(server: PlainServer, isIt: (request: IncomingMessage, count: number) => boolean, answer: Answer) {
  const signals = new EventEmitter()
  let count = 0
  let isStopped = false
  server.setIntercept((request, response) => {
    count += 1
    if (isStopped || !isIt(request, count)) return false
    isStopped = true
    signals.emit('SIGINT')
    return answer(response)
  })
  return runHere(['conformance', server.url, '--email', ANA], { signals })
}

const STOPPED = { exitCode: 1, stdout: '', stderr: 'stopped before everything was checked\n' }
const AS_EVER: Answer = () => false
const NEVER: Answer = () => true

test.each([
  ['while a read is not answered', '/templates', NEVER],
  ['during the first login', '/login', AS_EVER],
])('conformance signs out of all sessions when it is stopped %s', async (_, path, answer) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  expect(await stopAt(server, ({ url }) => url === path, answer)).toEqual(STOPPED)
  expect(server.openSessions()).toBe(0)
  expect(server.requests.at(-1)?.path).toBe('/logout')
})

test('conformance also ends the session of a later login during which it is stopped', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  expect(await stopAt(server, ({ url }, count) => url === '/login' && count > 6, AS_EVER)).toEqual(STOPPED)
  expect(server.openSessions()).toBe(0)
})

test('conformance stops waiting for a busy server when it is stopped, and reports the sessions that stay open there', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const signals = new EventEmitter()
  let isBusy = false
  server.setIntercept((request, response) => {
    isBusy ||= request.url === '/templates'
    if (!isBusy) return false
    response.writeHead(429, { 'retry-after': '30' }).end()
    response.once('close', () => signals.emit('SIGTERM'))
    return true
  })
  const { exitCode, stdout, stderr } = await runHere(['conformance', server.url, '--email', ANA], { signals })
  expect([exitCode, stdout]).toEqual([1, ''])
  const open = server.openSessions()
  expect(open).toBeGreaterThan(0)
  expect(stderr).toContain(`${open} sessions of this run could not be signed out`)
})
