// Whoever reads the log through a pipe may stand still: the gateway serves on, and ends when it is told to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { createLogOutput } from '../../src/cli/sight/log-output.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Lines of the access log for these are more than a pipe and its reader hold, which is less than half a megabyte. */
const REQUESTS = 3_000
const AT_ONCE = 50
const MEBIBYTE = 1_048_576

test.each([[[]], [['--workers', '2']]])(
  'serve %s ends with exit code 0 after SIGTERM, though nobody reads its log',
  async (more) => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const args = ['serve', '--port', '0', '--database', database, '--access-log', 'json', ...more]
    const gateway = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void gateway.kill('SIGKILL'))
    const [line] = await once(createInterface(gateway.stdout), 'line')
    const url = String(line).replace('listening on ', '')
    for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => fetch(`${url}/healthz`)))
      for (const answer of answers) expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
    }
    gateway.kill('SIGTERM')
    expect(await once(gateway, 'exit')).toEqual([0, null])
  },
)

test('what is too much for a reader that is slow is lost, and how much it was is told once it reads on', async () => {
  const taken: number[] = []
  const told: number[] = []
  const reader = Promise.withResolvers<void>()
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      void reader.promise.then(() => {
        taken.push(chunk.byteLength)
        done()
      })
    },
  })
  const output = createLogOutput(stream, (bytes) => told.push(bytes))
  let freed = 0
  const lines = Buffer.alloc(MEBIBYTE)
  for (let count = 0; count < 40; count += 1) output.write(lines, () => (freed += 1))
  // Memory of what is lost may be used again.
  expect([stream.writableLength, freed, told]).toEqual([16 * MEBIBYTE, 24, []])
  reader.resolve()
  await once(stream, 'drain')
  expect([taken.length, told]).toEqual([16, [24 * MEBIBYTE]])
  output.write(lines)
  await once(stream, 'drain')
  expect([taken.length, told]).toEqual([17, [24 * MEBIBYTE]])
})
