// Tests the end of a gateway with workers, whichever processes get the signal.
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { serveForTest } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'
import { until, workersOf } from './processes.ts'

test.skipIf(process.platform !== 'linux')(
  'a worker that gets SIGTERM twice, from outside and from its supervisor, answers the request in flight',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const gateway = await serveForTest(['--workers', '2', '--database', database])
    const login = request(`${gateway.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', expect: '100-continue' },
    })
    login.flushHeaders()
    await once(login, 'continue')
    const workers = workersOf(gateway)
    for (const pid of workers) process.kill(pid, 'SIGTERM')
    await until(() => gateway.stderr().split('"msg":"stopping"').length === 3)
    // The other worker has no request in flight, and ends.
    const left = () => workersOf(gateway).filter((pid) => workers.includes(pid))
    await until(() => left().length === 1)
    for (const pid of left()) process.kill(pid, 'SIGTERM')
    const ended = gateway.kill('SIGTERM')
    const answered = once(login, 'response')
    login.end(JSON.stringify({ email: ANA }))
    const [answer] = await answered
    expect(answer.statusCode).toBe(200)
    expect(JSON.parse(await text(answer))).toHaveProperty('accessToken')
    expect(await ended).toBe(0)
  },
)
