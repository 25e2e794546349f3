// Shadow reads: repeats a client's read in the background, as the same user, on this gateway and on the old server, and
// compares the two responses.
import { toGatewayError } from '../../auth/to-gateway-error.ts'
import { statusOf } from '../../errors.ts'
import type { Endpoint } from '../../http/handler.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { startRecord } from '../../http/request-record.ts'
import type { GatewayResponse } from '../../http/response.ts'
import { createSilenceLimit } from '../../import-export/remote/answer-limits.ts'
import { kindOfStatus } from '../../import-export/remote/retry.ts'
import { READ_ROUTES } from '../routes.ts'
import { asServedHere } from './as-served-here.ts'
import { compareBytes, digestsOf } from './compare-bytes.ts'
import { OldAwayError, OldSignInError } from './old-errors.ts'
import type { OldServer } from './old-server.ts'
import { createShadowQueue } from './shadow-queue.ts'
import type { ShadowReport, SkipReason } from './shadow-report.ts'

/** Comparisons that may wait, for their first run or their repetition. */
const MAX_WAITING = 1_000
/** Time limit of one comparison, from its first request to the last byte. */
const COMPARISON_MS = 120_000

export interface ShadowLimits {
  /** The fraction of reads that is compared, from 0 to 1. */
  readonly sample: number
  readonly concurrency: number
  /** Maximum number of bytes of a body to compare. */
  readonly maxBytes: number
  /**
   * A difference counts only if it is still there after this time: before, a change on the old server may not have
   * arrived here yet.
   */
  readonly confirmMs: number
}

export interface Shadow extends AsyncDisposable {
  /**
   * Queues a comparison of what `endpoint` and the old server answer to this read. Skips users who are not signed in,
   * and reads outside the sample.
   */
  readonly offer: (endpoint: Endpoint, request: GatewayRequest) => void
}

interface Read {
  readonly endpoint: Endpoint
  readonly email: string
  readonly search: string
  /** As the client sent it, without its conditional headers. */
  readonly request: GatewayRequest
}

/** `stop` aborts the comparisons in flight; disposing waits for them. */
export function createShadow(old: OldServer, limits: ShadowLimits, report: ShadowReport, stop: AbortSignal): Shadow {
  const { sample, concurrency, maxBytes, confirmMs } = limits
  const queue = createShadowQueue(concurrency, MAX_WAITING)

  async function compare(read: Read, isConfirmation: boolean): Promise<void> {
    const { endpoint, email, search } = read
    // Not `AbortSignal.timeout`: the read combines this signal with others, and Node would then keep it for ever.
    using limit = createSilenceLimit(COMPARISON_MS, [stop])
    const target = search === '' ? endpoint.path : `${endpoint.path}?${search}`
    const theirs = await old.read(email, { method: 'GET', target, signal: limit.signal }).catch((error: unknown) => {
      if (!stop.aborted) report.skipped(reasonOf(error))
      return null
    })
    if (!theirs) return
    const ours = await digested(read, maxBytes).catch(() => null)
    const isSuccess = ours?.status === 200 && theirs.status === 200
    if (!isSuccess) await theirs.cancel()
    if (!ours) return report.skipped('brokenOff')
    const reason = skipReasonOf(ours.status, theirs.status)
    if (reason === 'oldAway') report.failed(new OldAwayError(`GET ${endpoint.path} answered ${theirs.status}`))
    if (reason !== null) return report.skipped(reason)
    const compared = isSuccess
      ? await compareBytes(ours.digests, () => bodyOf(read), asServedHere(theirs.body), maxBytes).catch(() => null)
      : compareStatuses(ours.status, theirs.status)
    if (stop.aborted) return
    if (!compared) return report.skipped('brokenOff')
    if (compared.type !== 'different') return report.equal(compared.type === 'cut')
    if (!isConfirmation && confirmMs > 0) {
      if (!queue.addLater(() => compare(read, true), confirmMs)) report.skipped('noRoom')
      return
    }
    const { parameter } = READ_ROUTES.find(({ path }) => path === endpoint.path) ?? {}
    const ref = parameter === undefined ? null : new URLSearchParams(search).get(parameter)
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

/** The contract does not define the bodies of failures, so only the statuses are compared. */
function compareStatuses(ours: number, old: number) {
  return ours === old ? ({ type: 'equal' } as const) : ({ type: 'different', at: null } as const)
}

/** A copy that does not reference the client's own request, which may be over. Of the headers it has only the token. */
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

/**
 * Releases the answer before the old server's arrives: held for that long, it would leave no room for other answers.
 */
async function digested(read: Read, maxBytes: number) {
  using answer = await answerOf(read)
  return { status: answer.status, digests: await digestsOf(answer.body, maxBytes) }
}

async function* bodyOf(read: Read): AsyncGenerator<Uint8Array> {
  using answer = await answerOf(read)
  yield* answer.body
}

/**
 * Returns null if the two can be compared. A 401 of this gateway means that the token has expired since the client's
 * request.
 */
function skipReasonOf(ours: number, old: number): SkipReason | null {
  if (ours === 401 || ours === 503) return 'notAnsweredHere'
  return kindOfStatus(old) === 'busy' ? 'oldAway' : old === 401 ? 'oldSignIn' : null
}

function reasonOf(error: unknown): SkipReason {
  return error instanceof OldSignInError ? 'oldSignIn' : 'oldAway'
}
