// Keeps the log of `serve` in memory, in the form in which it would be written.
import { Writable } from 'node:stream'
import type { Logger } from 'pino'
import { createLog } from '../../src/cli/log.ts'

export function logInMemory({ isTerminal = false } = {}): { readonly log: Logger; readonly written: () => string } {
  const chunks: string[] = []
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  return { log: createLog({ logLevel: 'info' }, { stderr, isTerminal }), written: () => chunks.join('') }
}
