// A user who is asked beside the rounds of follow: what that meets is no news of the round that tells it.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTemporaryFile } from '../../src/cli/import/import-source.ts'
import { IMPORT_OPTIONS } from '../../src/cli/options/import-options.ts'
import { parseOptions } from '../../src/cli/options/option.ts'
import { createRemoteClient } from '../../src/import-export/remote/client.ts'
import { createFollower } from '../../src/import-export/remote/follow/follow.ts'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

test('a database that was away while a user was asked is not away any more in the next round', async () => {
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
  const { signal } = new AbortController()
  await using follower = createFollower({
    client: createRemoteClient(server.url, { headers: {}, maxOutageMs: 0, stop: signal }),
    store: failing,
    fields: parseOptions(IMPORT_OPTIONS, {}),
    openTemporaryFile,
    clock: Date.now,
    concurrency: 1,
    stop: signal,
    removeAfterMs: 0,
    mayRemoveMany: false,
    onFailed() {},
  })
  const round = () => follower.round([ANA, BEN].map((email) => ({ email, login: email, label: email })))
  expect(await round()).toMatchObject({ changed: 1, failed: 1, outage: null })
  isHeld = true
  // Ana is asked beside it.
  expect(await round()).toMatchObject({ unchanged: 1, failed: 1, outage: null })
  await expect.poll(() => held.length).toBe(1)
  isAway = true
  held[0]?.()
  await expect.poll(() => refused).toBeGreaterThan(0)
  isAway = false
  isHeld = false
  expect(await round()).toMatchObject({ unchanged: 1, failed: 1, outage: null })
})
