// follow whose output nobody reads any more: it ends when it is told to, and signs out.
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

test('an unread round does not keep follow from stopping', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD })
  const [signals, told] = [new EventEmitter(), new EventEmitter()]
  // A reader that has stalled: no write ever completes.
  const stdout = new Writable({ highWaterMark: 1, write: (line: Buffer) => void told.emit('line', String(line)) })
  const stderr = new PassThrough()
  const said = text(stderr)
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal: false, clock: Date.now }
  const args = ['--email', ANA, '--interval', '0', '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const line = once(told, 'line')
  const ended = runCommandLine(['follow', server.url, ...args], io, signals)
  expect((await line)[0]).toContain('1 changed')
  expect(server.openSessions()).toBe(1)
  signals.emit('SIGTERM')
  expect(await ended).toBe(0)
  stderr.end()
  expect([await said, server.openSessions()]).toEqual(['', 0])
})
