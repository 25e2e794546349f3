// The progress of commands that go through users, with a clock that the test moves.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { CommandIo } from '../../src/cli/io.ts'
import { createLongWaits } from '../../src/cli/move-in/long-waits.ts'
import { createUserProgress } from '../../src/cli/move-in/user-progress.ts'
import { stopClock } from '../support/stop-clock.ts'

function listen(isTerminal: boolean): { readonly io: CommandIo; readonly said: () => string } {
  const stderr = new PassThrough()
  const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, isTerminal, clock: Date.now }
  return { io, said: () => String(stderr.read() ?? '') }
}

test('the time left is estimated from the time that the users so far took; without progress nothing is repeated', () => {
  const pass = stopClock()
  const { io, said } = listen(false)
  using progress = createUserProgress(io, 'importing', 100)
  pass(9_999)
  progress.update(9, 1_000)
  expect(said()).toBe('')
  // 20 users in 30 s: 80 more take 120 s.
  pass(20_001)
  progress.update(20, 2_000_000)
  expect(said()).toBe('importing: 20 of 100 users, 2.0 MB, 2 min 0 s left\n')
  progress.update(21, 2_000_000)
  expect(said()).toBe('')
  pass(30_000)
  progress.update(100, 2_000_000)
  expect(said()).toBe('importing: 100 of 100 users, 2.0 MB, 0 s left\n')
  pass(30_000)
  progress.update(100, 2_000_000)
  expect(said()).toBe('')
})

test('on a terminal one line is redrawn and removed at the end; no time is estimated before the first user is done', () => {
  const pass = stopClock()
  const { io, said } = listen(true)
  {
    using progress = createUserProgress(io, 'verifying', 3)
    progress.update(0, 0)
    expect(said()).toBe('\r\u001b[2K\u001b[?7lverifying: 0 of 3 users, 0 B\u001b[?7h')
    pass(99)
    progress.update(1, 1)
    expect(said()).toBe('')
    pass(901)
    progress.update(1, 1)
    expect(said()).toBe('\r\u001b[2K\u001b[?7lverifying: 1 of 3 users, 1 B, 2 s left\u001b[?7h')
    progress.say('one user is not there')
    expect(said()).toBe('\r\u001b[2Kone user is not there\n')
  }
  expect(said()).toBe('\r\u001b[2K')
})

test('a long wait for the server is reported once a minute, on a terminal in place of the progress', () => {
  const pass = stopClock()
  const [file, terminal] = [listen(false), listen(true)]
  const [tellFile, tellTerminal] = [createLongWaits(file.io), createLongWaits(terminal.io)]
  const tell = (reason: string) => [tellFile, tellTerminal].map((onLongWait) => onLongWait(reason))
  tell('GET /projects answered 429')
  expect(file.said()).toBe('waiting for the other server: GET /projects answered 429\n')
  expect(terminal.said()).toBe('\r\u001b[2Kwaiting for the other server: GET /projects answered 429\n')
  pass(59_999)
  tell('GET /templates answered 429')
  expect(file.said() + terminal.said()).toBe('')
  pass(1)
  tell('POST /login: no answer (ECONNREFUSED)')
  expect(file.said()).toBe('waiting for the other server: POST /login: no answer (ECONNREFUSED)\n')
})
