// The clock of this machine is set while another server is asked: the time to wait for that server stays the same.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRemoteClient } from '../../src/import-export/remote/client.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { SMALL_WORLD } from '../support/workspaces.ts'

const TWO_HOURS_MS = 7_200_000

test.each([
  ['back', -TWO_HOURS_MS],
  ['forward', TWO_HOURS_MS],
])('a server that was busy for a moment is asked again, although the clock is set %s', async (_, milliseconds) => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  await using server = await startPlainServer({ records: SMALL_WORLD })
  let count = 0
  server.setIntercept((_request, response) => {
    count += 1
    const isBusy = count % 2 === 1
    // Between the two requests, and between the two attempts of the second one.
    if (count === 2 || count === 3) vi.setSystemTime(Date.now() + milliseconds)
    response.writeHead(isBusy ? 503 : 200, { 'retry-after': '0' }).end()
    return true
  })
  const client = createRemoteClient(server.url, {
    headers: {},
    maxOutageMs: 600_000,
    stop: new AbortController().signal,
  })
  for (const asked of [2, 4]) {
    expect((await client.send({ method: 'GET', path: '/projects' })).status).toBe(200)
    expect(count).toBe(asked)
  }
})
