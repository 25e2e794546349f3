// conformance that is told to stop: it asks for nothing more, and leaves no session behind.
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { type PlainServer, startPlainServer } from '../support/plain-server.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

type Answer = (response: ServerResponse) => boolean

/** The first request that `isIt` picks is followed by SIGINT, and answered as `answer` says. It is told how many there were. */
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
])('%s it signs out of all that it opened', async (_, path, answer) => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  expect(await stopAt(server, ({ url }) => url === path, answer)).toEqual(STOPPED)
  expect(server.openSessions()).toBe(0)
  expect(server.requests.at(-1)?.path).toBe('/logout')
})

test('during a later login that session is ended too', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  expect(await stopAt(server, ({ url }, count) => url === '/login' && count > 6, AS_EVER)).toEqual(STOPPED)
  expect(server.openSessions()).toBe(0)
})

test('a busy server is waited for no longer, and what stays open there is told', async () => {
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
