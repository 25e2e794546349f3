// What clients are answered here, compared in the background with what the old server answers: both are asked again, in the name of
// the same user, and told apart by the first byte.

import { toGatewayError } from '../../auth/to-gateway-error.ts'
import { statusOf } from '../../errors.ts'
import type { Endpoint } from '../../http/handler.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { startRecord } from '../../http/request-record.ts'
import type { GatewayResponse } from '../../http/response.ts'
import { kindOfStatus } from '../../import-export/remote/retry.ts'
import { compareBytes } from './compare-bytes.ts'
import { OldBusyError, type OldServer, OldSignInError } from './old-server.ts'
import { createShadowQueue } from './shadow-queue.ts'
import type { ShadowReport, SkipReason } from './shadow-report.ts'

/** Of comparisons that wait, for their turn or to be made again. */
const MAX_WAITING = 1_000
/** One comparison, from its first request to the last byte. */
const COMPARISON_MS = 120_000

export interface ShadowLimits {
  /** The part of reads that is compared, from 0 to 1. */
  readonly sample: number
  readonly concurrency: number
  /** Of a body; of a longer one as much is compared. */
  readonly maxBytes: number
  /** A difference counts if it is still there so much later: what was changed there may be on its way here. */
  readonly confirmMs: number
}

export interface Shadow extends AsyncDisposable {
  /** Compares, some time later, what `endpoint` and the old server answer to this read of a user who is signed in. */
  readonly offer: (endpoint: Endpoint, request: GatewayRequest) => void
}

interface Read {
  readonly endpoint: Endpoint
  readonly email: string
  readonly search: string
  /** A request without conditions, of the same client and with the same token. */
  readonly request: GatewayRequest
}

/** `stop` ends the comparisons that are under way; disposing it waits for them. */
export function createShadow(old: OldServer, limits: ShadowLimits, report: ShadowReport, stop: AbortSignal): Shadow {
  const { sample, concurrency, maxBytes, confirmMs } = limits
  const queue = createShadowQueue(concurrency, MAX_WAITING)

  async function compare(read: Read, isConfirmation: boolean): Promise<void> {
    const { endpoint, email, search } = read
    const signal = AbortSignal.any([stop, AbortSignal.timeout(COMPARISON_MS)])
    const target = search === '' ? endpoint.path : `${endpoint.path}?${search}`
    const theirs = await old.read(email, { method: 'GET', target, signal }).catch((error: unknown) => {
      if (!stop.aborted) report.skipped(reasonOf(error))
      return null
    })
    if (!theirs) return
    using ours = await answerOf(read)
    const reason = skipReasonOf(ours.status, theirs.status)
    const isSuccess = ours.status === 200 && theirs.status === 200
    if (!isSuccess) await theirs.body?.cancel()
    if (reason !== null) return report.skipped(reason)
    const compared = isSuccess
      ? await compareBytes(ours.body, bytesOf(theirs), maxBytes).catch(() => null)
      : compareStatuses(ours.status, theirs.status)
    if (stop.aborted) return
    if (!compared) return report.skipped('brokenOff')
    if (compared.type !== 'different') return report.equal(compared.type === 'cut')
    if (!isConfirmation && confirmMs > 0) {
      if (!queue.addLater(() => compare(read, true), confirmMs)) report.skipped('noRoom')
      return
    }
    const ref = new URLSearchParams(search).get('r')
    report.different({
      route: `${endpoint.method} ${endpoint.path}`,
      email,
      ref,
      ours: ours.status,
      old: theirs.status,
      at: compared.at,
    })
  }

  return {
    offer(endpoint, request) {
      const { viewer } = request.record
      if (!viewer || Math.random() >= sample) return
      const read = { endpoint, email: viewer.email, search: request.search, request: unconditional(request) }
      if (!queue.add(() => compare(read, false))) report.skipped('noRoom')
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  }
}

/** The contract is silent about the bodies of failures. */
function compareStatuses(ours: number, old: number) {
  return ours === old ? ({ type: 'equal' } as const) : ({ type: 'different', at: null } as const)
}

/** What it holds of the request that a client waits for is its token. */
function unconditional({ path, search, peer, client, httpVersion, header }: GatewayRequest): GatewayRequest {
  const authorization = header('authorization')
  return {
    method: 'GET',
    path,
    search,
    isFirstOfConnection: false,
    peer,
    client,
    httpVersion,
    header: (name) => (name === 'authorization' ? authorization : undefined),
    body: async () => new Uint8Array(),
    async *bodyStream() {},
    onClosed() {},
    record: startRecord(performance.now()),
  }
}

interface OwnAnswer extends Disposable {
  readonly status: number
  readonly body: AsyncIterable<Uint8Array>
}

async function answerOf({ endpoint, request }: Read): Promise<OwnAnswer> {
  try {
    const { status, body, held } = await endpoint.handle(request)
    return { status, body: asPieces(body), [Symbol.dispose]: () => held?.[Symbol.dispose]() }
  } catch (error) {
    return { status: statusOf(toGatewayError(error).code), body: asPieces(null), [Symbol.dispose]() {} }
  }
}

async function* asPieces(body: GatewayResponse['body']): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') yield Buffer.from(body)
  else if (body instanceof Uint8Array) yield body
  else if (body !== null) yield* body
}

async function* bytesOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body) yield* response.body
}

/** Null when there is something to compare. 401 here: the token has expired since. */
function skipReasonOf(ours: number, old: number): SkipReason | null {
  if (ours === 401 || ours === 503) return 'notAnsweredHere'
  return kindOfStatus(old) === 'busy' ? 'oldAway' : old === 401 ? 'oldSignIn' : null
}

function reasonOf(error: unknown): SkipReason {
  return error instanceof OldSignInError && !(error instanceof OldBusyError) ? 'oldSignIn' : 'oldAway'
}
