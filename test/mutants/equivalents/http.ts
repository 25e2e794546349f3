// Mutants of the folder `http` (how a request comes in and an answer goes out) that nobody outside could notice.
import type { Equivalent } from './equivalent.ts'

export const HTTP_EQUIVALENTS: readonly Equivalent[] = [
  {
    path: 'src/http/server/server.ts',
    line: 'const { bodyLimitBytes, trustedProxies = [], proxyProtocol = false } = options',
    to: 'true',
    reason: 'whoever lists proxies says it; without listed proxies no PROXY header is read',
  },
  {
    path: 'src/http/server/pipelining.ts',
    line: 'if (waiting.length === 0) socket.resume()',
    to: 'true',
    reason: 'what is resumed while requests wait is paused again, as what node:http resumes',
  },
  {
    path: 'src/http/compression/compression.ts',
    line: 'return coding === null ? undefined : cache.find(viewer, operationIn(coding, operation))',
    to: 'false',
    reason: 'nothing is kept under the name of no coding',
  },
  {
    path: 'src/http/server/pipelining.ts',
    line: 'return unsentBytes <= MAX_UNSENT_BYTES',
    to: '<',
    reason: 'nobody counts what the kernel took to the byte',
  },
  {
    path: 'src/http/server/pipelining.ts',
    line: 'if (allWaiting >= MAX_WAITING) return refuse(socket)',
    to: '>',
    reason: 'one request more or less takes no memory to speak of',
  },
  {
    path: 'src/http/caching/response-cache.ts',
    line: 'if (userId === null) return undefined',
    to: 'false',
    reason: 'nothing is kept under null',
  },
  {
    path: 'src/http/caching/response-cache.ts',
    line: 'if (entry.lastOperation === operation && entry.lastReply) {',
    to: 'false',
    reason: 'it is found among the others, where it is the last already',
  },
  {
    path: 'src/http/caching/constant-document.ts',
    line: 'coded.set(coding, made)',
    reason: 'the form is made again, and is the same',
  },
  {
    path: 'src/http/compression/codecs.ts',
    line: 'whole: (bytes) => gzipWhole(bytes, bytes.byteLength <= SMALL_BYTES ? SMALL_GZIP : GZIP),',
    reason: 'tables of another size: what comes out decodes to the same',
  },
  {
    path: 'src/http/compression/codecs.ts',
    line: 'const bits = Math.ceil(Math.log2(byteLength + 1))',
    reason: 'a window of another size: what comes out decodes to the same',
  },
  {
    path: 'src/http/compression/compression.ts',
    line: 'await yieldTurn()',
    reason: 'only who is served first is another question',
  },
  {
    path: 'src/http/compression/compression.ts',
    line: 'for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {',
    to: '<=',
    reason: 'an empty piece at the end adds nothing',
  },
  {
    path: 'src/http/forwarding/accept-proxy-protocol.ts',
    line: 'received = received.length === 0 ? chunk : Buffer.concat([received, chunk])',
    to: 'false',
    reason: 'nothing and the chunk are the chunk',
  },
  {
    path: 'src/http/forwarding/accept-proxy-protocol.ts',
    line: 'if (received.length > header.byteLength) socket.unshift(received.subarray(header.byteLength))',
    to: '>=',
    reason: 'nothing is given back',
  },
  {
    path: 'src/http/forwarding/accept-proxy-protocol.ts',
    line: 'if (received.length > header.byteLength) socket.unshift(received.subarray(header.byteLength))',
    to: 'true',
    reason: 'nothing is given back',
  },
  {
    path: 'src/http/forwarding/forwarded-headers.ts',
    line: 'for (let at = 0; at < text.length; at += 1) {',
    to: '<=',
    reason: 'behind the end there is no character',
  },
  {
    path: 'src/http/forwarding/proxy-protocol.ts',
    line: 'for (let at = 0; at + 3 <= tlvs.length; at += 3 + tlvs.readUInt16BE(at + 1)) {',
    to: '<',
    reason: 'a TLV of three bytes says nothing',
  },
  {
    path: 'src/http/limits/turn-quota.ts',
    line: 'if (used === 0) setImmediate(nextTurn)',
    to: 'true',
    reason: 'a turn ends once, however often it is told to',
  },
  {
    path: 'src/http/pipeline.ts',
    line: "if (basePath === '') return (next) => next",
    to: 'false',
    reason: 'every path is inside',
  },
  {
    path: 'src/http/random-ids.ts',
    line: 'if (at + byteLength * 2 > pool.length) {',
    to: '>=',
    reason: 'the last id of a pool is not used',
  },
  {
    path: 'src/http/random-ids.ts',
    line: 'if (at + byteLength * 2 > pool.length) {',
    to: 'true',
    reason: 'each id is of a pool of its own',
  },
  {
    path: 'src/http/request-record.ts',
    line: 'return steps === null ? 0 : performance.now()',
    to: 'false',
    reason: 'steps of a request that is not traced are counted nowhere',
  },
  {
    path: 'src/http/server/connection.ts',
    line: 'if (known) return known',
    to: 'false',
    reason: 'the facts of a connection are asked for again, and are the same',
  },
  {
    path: 'src/http/server/connection.ts',
    line: 'connections.set(socket, connection)',
    reason: 'the facts of a connection are asked for again, and are the same',
  },
  {
    path: 'src/http/server/request-head.ts',
    line: 'for (let at = 0; at < rawHeaders.length; at += 2) {',
    to: '<=',
    reason: 'behind the end there is no header',
  },
  {
    path: 'src/http/limits/in-flight-bytes.ts',
    line: 'const ofUser = userId === null ? own : (heldBy.get(userId) ?? 0)',
    to: 'false',
    reason: 'beside a request without a user, nothing is held for nobody',
  },
  {
    path: 'src/http/server/when-closed.ts',
    line: 'if (responses.size > 0 && responses.size >= underWayOn(socket)) socket.destroy()',
    to: '>=',
    reason: 'a connection without requests ends with its client anyway',
  },
  {
    path: 'src/http/limits/fair-line.ts',
    line: 'if (count >= length) return []',
    to: '>',
    reason: 'with as many as are there all are kept',
  },
  {
    path: 'src/http/forwarding/forwarded-headers.ts',
    line: 'if (node === undefined) return null',
    to: 'false',
    reason: 'what is made of it is the word "undefined", which is no address either',
  },
]
