// A request's body as a whole, within a bound; a client that waits for `100 Continue` is told to go on.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../errors.ts'

/** Throws `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, and `BAD_REQUEST` for one that breaks off. */
export function readBody(incoming: IncomingMessage, response: ServerResponse, limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const { headers } = incoming
    if (Number(headers['content-length'] ?? 0) > limitBytes) throw new GatewayError('BODY_TOO_LARGE')
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without a content encoding.' })
    }
    if (headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
    const chunks: Buffer[] = []
    let byteLength = 0
    incoming
      .on('data', (chunk: Buffer) => {
        byteLength += chunk.byteLength
        if (byteLength <= limitBytes) chunks.push(chunk)
        else reject(new GatewayError('BODY_TOO_LARGE'))
      })
      .on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
      // Cut off in the middle: nobody is there to read the answer, and nothing went wrong here.
      .on('error', () => reject(new GatewayError('BAD_REQUEST')))
  })
}
