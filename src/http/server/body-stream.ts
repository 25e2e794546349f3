// A request's body a piece at a time: bounded by how long nothing comes, not by its length or how long all of it takes; `100 Continue` as well.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../errors.ts'
import { exemptFromRequestTimeout } from './client-error.ts'
import { expectsContinue, requirePlainBody } from './request-head.ts'

const SILENCE_MS = 30_000

export async function* streamBody(incoming: IncomingMessage, response: ServerResponse): AsyncGenerator<Uint8Array> {
  requirePlainBody(incoming)
  if (expectsContinue(incoming)) response.writeContinue()
  using _ = exemptFromRequestTimeout(incoming.socket)
  let isSilent = false
  const timer = setTimeout(() => {
    isSilent = true
    incoming.destroy()
  }, SILENCE_MS)
  try {
    // A handler that stops early still has to answer why. Destroying the request would end the connection before that.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      timer.refresh()
      yield chunk as Buffer
    }
  } catch {
    throw new GatewayError(isSilent ? 'REQUEST_TIMEOUT' : 'BAD_REQUEST')
  } finally {
    clearTimeout(timer)
  }
}
