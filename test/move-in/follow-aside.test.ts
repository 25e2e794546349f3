// A user whom follow reads beside its rounds: an error there does not concern the round that reports it.

import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openFollower } from '../support/follow.ts'
import { readerOf, startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

test('a database that was unavailable while a user was read beside the rounds is no outage of the next round', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const held: (() => void)[] = []
  let isHeld = false
  server.setIntercept((request, response) => {
    if (request.url !== '/exports?r=site') return false
    const end = () => response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
    if (isHeld) held.push(end)
    else response.writeHead(504).end()
    return true
  })
  await using store = await openSqliteStore(join(temporaryDirectory(), 'new.db'), {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
  let isAway = false
  let refused = 0
  const failing = new Proxy(store, {
    get(target, name) {
      if (isAway) {
        refused += 1
        throw new StoreUnavailableError('the database is away')
      }
      return Reflect.get(target, name)
    },
  })
  await using follower = openFollower(server.url, failing)
  const round = () => follower.round([ANA, BEN].map((email) => ({ email, login: email, label: email })))
  expect(await round()).toMatchObject({ changed: 1, failed: 1, outage: null })
  isHeld = true
  // From now on ana is read beside the rounds.
  expect(await round()).toMatchObject({ unchanged: 1, failed: 1, outage: null })
  await expect.poll(() => held.length).toBe(1)
  isAway = true
  held[0]?.()
  await expect.poll(() => refused).toBeGreaterThan(0)
  isAway = false
  isHeld = false
  expect(await round()).toMatchObject({ unchanged: 1, failed: 1, outage: null })
})

test('a user whom the server never answers does not keep a round from asking for the others again after a 503', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await using server = await startPlainServer({ records: SMALL_WORLD })
  await using store = await openSqliteStore(join(temporaryDirectory(), 'new.db'), {
    lockTimeoutMs: 5_000,
    onFatal() {},
  })
  await using follower = openFollower(server.url, store, { maxOutageMs: 2_000 })
  const round = () => follower.round([BEN, ANA].map((email) => ({ email, login: email, label: email })))
  const busy = (response: ServerResponse) => response.writeHead(503).end()
  server.setIntercept(({ url }, response) => {
    if (url !== '/exports?r=site') return false
    vi.advanceTimersByTime(2_000)
    busy(response)
    return true
  })
  expect(await round()).toMatchObject({ changed: 1, failed: 1, outage: null })
  // The pause between two rounds. From now on ana is read beside the rounds.
  vi.advanceTimersByTime(5_000)
  const held: ServerResponse[] = []
  let requestsOfBen = 0
  server.setIntercept((request, response) => {
    if (readerOf(request) !== BEN) return held.push(response) > 0
    requestsOfBen += 1
    if (requestsOfBen === 1) busy(response)
    return requestsOfBen === 1
  })
  const next = await round()
  server.setIntercept(null)
  for (const response of held) response.writeHead(404).end()
  expect(next).toMatchObject({ unchanged: 1, failed: 1, outage: null })
})

test('users whom the server did not answer once do not wait for a round each to be asked again', async () => {
  const emails = Array.from({ length: 40 }, (_, at) => `user${at}@example.com`)
  await using server = await startPlainServer({
    records: emails.map((email) => documentLine('template', email, '{"id":"t"}')).join(''),
  })
  await using store = await openSqliteStore(join(temporaryDirectory(), 'new.db'), {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
  await using follower = openFollower(server.url, store)
  const round = () => follower.round(emails.map((email) => ({ email, login: email, label: email })))
  // Every other user, so that the server does not count as down.
  server.setIntercept((request, response) => {
    const at = emails.indexOf(readerOf(request) ?? '')
    if (at % 2 === 0 || request.url !== '/templates') return false
    response.destroy()
    return true
  })
  expect(await round()).toMatchObject({ changed: 20, failed: 20, outage: null })
  server.setIntercept(null)
  await round()
  // Beside the rounds they are asked one by one, without another round.
  await expect.poll(() => server.requests.filter(({ path }) => path === '/templates').length).toBe(60)
  // The last one may still be asked.
  expect((await round()).failed).toBeLessThanOrEqual(1)
})
