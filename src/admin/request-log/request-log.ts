// The request log: which requests get a line. All that were asked for, and always those that were refused or failed.
import { LRUCache } from 'lru-cache'
import { coarseNetworkOf } from '../../auth/coarse-network.ts'
import type { ObserveResponse } from '../../http/handler.ts'
import { isPlanned } from '../../http/problem-details.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { requestIdOf } from '../../http/request-id.ts'
import type { RequestRecord } from '../../http/request-record.ts'
import { hashedEmail } from '../../store/hashed-email.ts'
import { type Asker, createAsker, type PutLine } from './line.ts'
import type { LineBytes } from './line-bytes.ts'
import { createRefusalLimit, type LeftOut } from './refusal-limit.ts'

/** Users, and addresses that nobody is signed in from, whose part of a line is kept. */
const MAX_KNOWN = 10_000

export interface RequestLogOptions {
  /** One request of so many gets a line; 0: none does, unless it was refused or failed. */
  readonly sampleEvery: number
  readonly putLine: PutLine
  /** The key of users' hashes; the audit log's, so that one finds the other. */
  readonly salt: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Where the next line is put: room for `MAX_LINE_BYTES`. */
  readonly roomForLine: () => LineBytes
  readonly onLeftOut: (leftOut: LeftOut) => void
}

/** An asker, valid while requests come from the same address. */
interface KnownAsker {
  readonly address: string
  readonly asker: Asker
}

export interface RequestLog extends Disposable {
  readonly observe: ObserveResponse
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { sampleEvery, putLine, salt, clock, roomForLine } = options
  const limit = createRefusalLimit(options.onLeftOut)
  const known = new LRUCache<string, KnownAsker>({ max: MAX_KNOWN })
  let untilSampled = 1

  function isSampled(): boolean {
    if (sampleEvery === 0) return false
    untilSampled -= 1
    if (untilSampled > 0) return false
    untilSampled = sampleEvery
    return true
  }

  function askerOf({ record: { viewer }, client: { address } }: GatewayRequest): Asker {
    // No email is an address.
    const name = viewer?.email ?? address
    const before = known.get(name)
    if (before?.address === address) return before.asker
    const user = before?.asker.user ?? (viewer && hashedEmail(viewer.email, salt))
    const asker = createAsker(user, coarseNetworkOf(address))
    known.set(name, { address, asker })
    return asker
  }

  return {
    observe(request) {
      const { record } = request
      if (!isSampled() && !(isAlwaysLogged(record) && limit.admits(record.status, isPlanned(record.failureCode))))
        return
      putLine(roomForLine(), request, { now: clock(), requestId: requestIdOf(request), asker: askerOf(request) })
    },
    [Symbol.dispose]: () => limit[Symbol.dispose](),
  }
}

function isAlwaysLogged({ status, isOriginRefused }: RequestRecord): boolean {
  return status >= 500 || status === 401 || status === 403 || status === 429 || isOriginRefused
}
