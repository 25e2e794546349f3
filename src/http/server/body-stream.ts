// Streams a request body: limits the wait for each chunk, not the length or the total time, and sends 100 Continue.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../errors.ts'
import { exemptFromRequestTimeout } from './client-error.ts'
import { expectsContinue, requirePlainBody } from './request-head.ts'

const SILENCE_MS = 30_000

/** The clock runs only while the consumer waits for the next chunk: a slow disk is no silence of the client. */
export async function* streamBody(incoming: IncomingMessage, response: ServerResponse): AsyncGenerator<Uint8Array> {
  requirePlainBody(incoming)
  if (expectsContinue(incoming)) response.writeContinue()
  using _ = exemptFromRequestTimeout(incoming.socket)
  let isSilent = false
  const giveUp = () => {
    isSilent = true
    incoming.destroy()
  }
  let timer = setTimeout(giveUp, SILENCE_MS)
  try {
    // A handler that stops early still has to send its answer. Destroying the request would close the connection first.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      clearTimeout(timer)
      yield chunk as Buffer
      timer = setTimeout(giveUp, SILENCE_MS)
    }
  } catch {
    throw new GatewayError(isSilent ? 'REQUEST_TIMEOUT' : 'BAD_REQUEST')
  } finally {
    clearTimeout(timer)
  }
}
