// Waits until the response to a request of node:http begins.
import type { ClientRequest, IncomingMessage } from 'node:http'

/**
 * Rejects with the error of the request, or when the server switches to another protocol (101), which is no error of
 * node:http. Also handles the errors that the request emits after that.
 */
export function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.on('response', resolve).on('error', reject)
  request.on('close', () => reject(new Error('the server switches to another protocol')))
  return promise
}
