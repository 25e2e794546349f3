// A user whom follow reads beside its rounds: an error there does not concern the round that reports it.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openFollower } from '../support/follow.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

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
