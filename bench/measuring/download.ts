// Downloads one answer over a new connection, and discards it.
import { connect } from 'node:net'

const BUFFER_BYTES = 1_048_576

export interface Download {
  readonly milliseconds: number
  readonly firstByteMilliseconds: number
  /** Includes the head. */
  readonly byteLength: number
}

/** Throws unless the status is 200 and at least `minBytes` arrived. */
export function download(url: string, headers: Readonly<Record<string, string>>, minBytes: number): Promise<Download> {
  const { hostname, port, pathname, search } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<Download>()
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  const start = performance.now()
  let firstByteMilliseconds = Number.NaN
  let byteLength = 0
  let statusLine = ''
  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer,
      callback(count) {
        if (byteLength === 0) {
          firstByteMilliseconds = performance.now() - start
          statusLine = buffer.toString('latin1', 0, 12)
        }
        byteLength += count
        return true
      },
    },
  })
  const lines = Object.entries({ host: hostname, connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`)
  socket.on('error', reject)
  socket.on('close', () => {
    const isGood = statusLine === 'HTTP/1.1 200' && byteLength >= minBytes
    if (isGood) resolve({ milliseconds: performance.now() - start, firstByteMilliseconds, byteLength })
    else reject(new Error(`${url} answered ${statusLine} and ${byteLength} bytes`))
  })
  return promise
}
