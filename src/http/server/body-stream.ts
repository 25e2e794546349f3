// Streams a request body: limits the wait for each chunk, not the length or the total time, and sends 100 Continue.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../errors.ts'
import { limitWait } from '../../limit-wait.ts'
import { exemptFromRequestTimeout } from './client-error.ts'
import { expectsContinue, requirePlainBody } from './request-head.ts'

const SILENCE_MS = 30_000

export async function* streamBody(incoming: IncomingMessage, response: ServerResponse): AsyncGenerator<Uint8Array> {
  requirePlainBody(incoming)
  if (expectsContinue(incoming)) response.writeContinue()
  using _ = exemptFromRequestTimeout(incoming.socket)
  let isSilent = false
  try {
    // A handler that stops early still has to send its answer. Destroying the request would close the connection first.
    yield* limitWait<Buffer>(incoming.iterator({ destroyOnReturn: false }), SILENCE_MS, () => {
      isSilent = true
      incoming.destroy()
    })
  } catch {
    throw new GatewayError(isSilent ? 'REQUEST_TIMEOUT' : 'BAD_REQUEST')
  }
}
