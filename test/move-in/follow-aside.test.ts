// A user whom follow reads beside its rounds: an error there does not concern the round that reports it.

import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Round } from '../../src/import-export/remote/follow/round.ts'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { openFollower } from '../support/follow.ts'
import { ask } from '../support/gateway.ts'
import { readerOf, startPlainServer } from '../support/plain-server.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

/** What a round says of an error that ended the reading of a user beside it. */
const ERRORS: readonly (readonly [string, Error, (round: () => Promise<Round>) => Promise<void>])[] = [
  [
    'a database that was unavailable while a user was read beside the rounds is no outage of the next round',
    new StoreUnavailableError('the database is away'),
    async (round) => expect(await round()).toMatchObject({ unchanged: 1, failed: 1, outage: null }),
  ],
  [
    'any other error of such a user ends a later round',
    new TypeError('planted'),
    async (round) =>
      expect
        .poll(() =>
          round().then(
            () => 'no error',
            ({ message }) => message,
          ),
        )
        .toBe('planted'),
  ],
]

test.each(ERRORS)('%s', async (_, error, expectNext) => {
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
  await using store = await openTestStore()
  let isAway = false
  let refused = 0
  const failing = new Proxy(store, {
    get(target, name) {
      if (isAway) {
        refused += 1
        throw error
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
  await expectNext(round)
})

test('a user whom the server never answers does not keep a round from asking for the others again after a 503', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await using server = await startPlainServer({ records: SMALL_WORLD })
  await using store = await openTestStore()
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
  await using store = await openTestStore()
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

test('the server is down if no user of a round gets an answer; a user beside the rounds counts once there is one', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  await using store = await openTestStore()
  await using follower = openFollower(server.url, store)
  const round = () => follower.round([ANA, BEN].map((email) => ({ email, login: email, label: email })))
  const answers: (() => void)[] = []
  server.setIntercept((request, response) => {
    if (readerOf(request) === ANA) response.destroy()
    return readerOf(request) === ANA
  })
  expect(await round()).toMatchObject({ changed: 1, failed: 1, outage: null })
  server.setIntercept((request, response) => {
    if (readerOf(request) === ANA) answers.push(() => void response.end(server.expected(ANA, request.url ?? '')))
    else response.destroy()
    return true
  })
  // Ana is asked beside the rounds, and waits for her answer.
  expect(await round()).toMatchObject({ failed: 2, isServerDown: true })
  await expect.poll(() => answers.length).toBeGreaterThan(0)
  server.setIntercept((request, response) => {
    if (readerOf(request) === BEN) response.destroy()
    return readerOf(request) === BEN
  })
  for (const answer of answers) answer()
  await expect.poll(round).toMatchObject({ changed: 1, failed: 1, outage: null })
})

test('a user who is no longer named is not asked beside the rounds, but is signed out only once an answer has come', async () => {
  const emails = Array.from({ length: 4 }, (_, at) => `user${at}@example.com`)
  await using server = await startPlainServer({
    records: emails.map((email) => documentLine('template', email, '{"id":"t"}')).join(''),
  })
  await using store = await openTestStore()
  await using follower = openFollower(server.url, store)
  const [first = '', asked = '', second = '', waiting = ''] = emails
  const round = (...named: readonly string[]) =>
    follower.round(named.map((email) => ({ email, login: email, label: email })))
  const readers = new Set<string>()
  const answers: (() => void)[] = []
  let isHeld = false
  server.setIntercept((request, response) => {
    const reader = readerOf(request) ?? ''
    if (reader !== asked && reader !== waiting) return false
    if (!isHeld) {
      response.destroy()
      return true
    }
    readers.add(reader)
    answers.push(() => void response.writeHead(404).end())
    return true
  })
  expect(await round(...emails)).toMatchObject({ changed: 2, failed: 2, outage: null })
  isHeld = true
  expect(await round(...emails)).toMatchObject({ unchanged: 2, failed: 2, outage: null })
  await expect.poll(() => answers.length).toBeGreaterThan(0)
  expect(await round(first, second)).toMatchObject({ users: 2, unchanged: 2, failed: 0 })
  expect(server.openSessions()).toBe(3)
  server.setIntercept(null)
  for (const answer of answers) answer()
  await expect
    .poll(async () => {
      expect(await round(first, second)).toMatchObject({ users: 2, unchanged: 2, failed: 0 })
      return server.openSessions()
    })
    .toBe(2)
  expect([...readers]).toEqual([asked])
  expect(await store.userByEmail(waiting)).toBeNull()
})

test('follow ends once the user who is read beside the rounds has been read', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  await using store = await openTestStore()
  const follower = openFollower(server.url, store)
  const round = () => follower.round([ANA, BEN].map((email) => ({ email, login: email, label: email })))
  const answers: (() => void)[] = []
  let isHeld = false
  server.setIntercept((request, response) => {
    if (readerOf(request) !== ANA) return false
    if (isHeld) answers.push(() => void response.writeHead(404).end())
    else response.destroy()
    return true
  })
  await round()
  isHeld = true
  await round()
  await expect.poll(() => answers.length).toBeGreaterThan(0)
  const ended = follower[Symbol.asyncDispose]()
  // A sign-out would have come before these.
  for (let count = 0; count < 3; count += 1) await ask(server.url)
  expect(server.openSessions()).toBe(2)
  server.setIntercept(null)
  for (const answer of answers) answer()
  await ended
  expect(server.openSessions()).toBe(0)
})
