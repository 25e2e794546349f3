// Makes the answer to a read of the contract: from one state of the workspace, and reads an export only when a client
// needs more than its digest.
import { GatewayError } from '../errors.ts'
import type { Made } from '../http/caching/coalescing.ts'
import { uncacheable } from '../http/caching/response-cache.ts'
import { lazyAsync } from '../http/lazy.ts'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'
import type { GatewayRequest } from '../http/request.ts'
import type { GatewayResponse } from '../http/response.ts'
import { answerConsistently } from '../resolvers/consistent-answer.ts'
import { type Context, createContext } from '../resolvers/context.ts'
import { createRequestBudget, UNLIMITED } from '../resolvers/request-budget.ts'
import { resolvers } from '../resolvers/resolvers.ts'
import type { EndpointServices } from '../resolvers/services.ts'
import { withTracedReads } from '../resolvers/tracing/traced-reads.ts'
import type { Awaitable, LiveSession, StoredExport } from '../store/contract.ts'
import { documentsResponse, exportMetadataResponse, exportResponse } from './collection-response.ts'
import type { ReadRoute } from './routes.ts'

/** A reply, and the session that it may be cached for. */
export interface CacheableReply {
  readonly reply: GatewayResponse
  readonly state: LiveSession | null
}

/** The same for all requests in one state. */
export interface ReadAnswer {
  /** Its headers are enough to decide whether the client holds a current copy. */
  readonly head: GatewayResponse
  readonly whole: () => Awaitable<CacheableReply>
}

/** `operation` is the key of the reply in the cache. The result holds the memory of the answer until it is sent. */
export type MakeAnswer = (
  viewer: LiveSession | null,
  request: GatewayRequest,
  operation: string,
) => Promise<Made<ReadAnswer>>

export function createMakeAnswer(route: ReadRoute, services: EndpointServices): MakeAnswer {
  const { cache, inFlight, clock } = services

  /** Throws `MISSING_PARAMETER` and `NO_WORKSPACE`, and what the route throws. */
  async function find(
    request: GatewayRequest,
    reading: Context,
    holding: Reservation,
  ): Promise<GatewayResponse | StoredExport> {
    const me = await resolvers.Query.me({}, {}, reading)
    const value = readParameter(route, request)
    if (!me) throw new GatewayError('NO_WORKSPACE')
    const found = await route.resolve(me, value, reading)
    return isExport(found) ? found : documentsResponse(found, reading.yieldTurn, holding)
  }

  return async (viewer, request, operation) => {
    using holdings = new DisposableStack()
    const holding = holdings.use(inFlight.open(undefined, viewer?.userId))
    const openContext = (from: EndpointServices) =>
      createContext(withTracedReads(from, request.record), request, viewer, createRequestBudget(UNLIMITED, holding))
    const { value: found, context } = await answerConsistently(services, openContext, holding, (reading) =>
      find(request, reading, holding),
    )

    /** If the export was removed after it was found, returns what is there now. */
    async function readWhole(snapshot: StoredExport): Promise<GatewayResponse> {
      try {
        return await exportResponse(snapshot, context, clock())
      } catch (error) {
        if (!context.states?.isTorn()) throw error
      }
      const again = await answerConsistently(services, openContext, holding, async (reading) => {
        const now = await find(request, reading, holding)
        return isExport(now) ? exportResponse(now, reading, clock()) : now
      })
      return again.value
    }

    function keep(reply: GatewayResponse): CacheableReply {
      const state = viewer && (context.isConsistent() ? viewer : uncacheable(viewer))
      if (state) cache.keep(state, operation, reply)
      return { reply, state }
    }

    const isOfState = context.isConsistent()
    if (isExport(found)) {
      const whole = lazyAsync(async () => keep(await readWhole(found)))
      return { value: { head: exportMetadataResponse(found, clock()), whole }, isOfState, held: holdings.move() }
    }
    const made = keep(found)
    // The send path counts a whole body while it is being sent.
    if (found.body instanceof Uint8Array) holding.shrink(holding.byteLength())
    return { value: { head: found, whole: () => made }, isOfState, held: holdings.move() }
  }
}

/** Throws `MISSING_PARAMETER`: the request is wrong, whatever is stored for the user. */
function readParameter({ parameter }: ReadRoute, { search }: GatewayRequest): string {
  if (parameter === undefined) return ''
  const value = new URLSearchParams(search).get(parameter)
  if (value === null || value === '') throw new GatewayError('MISSING_PARAMETER')
  return value
}

function isExport(found: object): found is StoredExport {
  return 'digest' in found
}
