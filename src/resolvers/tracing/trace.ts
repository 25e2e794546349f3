// How a response was made, and how long each step took: for callers that ask for it, where that is enabled.
import type { Endpoint } from '../../http/handler.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { type GatewayResponse, withHeaders } from '../../http/response.ts'

/** The request header that asks, and the response header that answers. */
const TRACE_HEADER = 'gateway-trace'

export interface Trace {
  /** A step ends now; it began when the one before it ended. */
  readonly step: (name: string) => void
  /** Of a GraphQL document. `kept`: its plan was there; `new`: it was made for this request; `none`: there was no need of one. */
  plan: 'kept' | 'new' | 'none'
  reply: 'kept' | 'made'
  /** The response with `Gateway-Trace` and `Server-Timing` (https://www.w3.org/TR/server-timing/). */
  readonly write: (response: GatewayResponse) => GatewayResponse
}

/** Null unless it is asked for. */
export function startTrace(request: GatewayRequest, isTraceEnabled: boolean): Trace | null {
  if (!isTraceEnabled || request.header(TRACE_HEADER) === undefined) return null
  const steps: string[] = []
  let begun = performance.now()
  const trace: Trace = {
    plan: 'none',
    reply: 'made',
    step(name) {
      const now = performance.now()
      steps.push(`${name};dur=${(now - begun).toFixed(3)}`)
      begun = now
    },
    write: (response) =>
      withHeaders(response, {
        [TRACE_HEADER]: `plan=${trace.plan}, reply=${trace.reply}`,
        'server-timing': steps.join(', '),
      }),
  }
  return trace
}

/** Its answers with the time they took as one step. What is refused is told without. */
export function traced(endpoint: Endpoint): Endpoint {
  async function answerTraced(request: GatewayRequest, trace: Trace): Promise<GatewayResponse> {
    const response = await endpoint.handle(request)
    trace.step('answer')
    trace.reply = request.record.isKept ? 'kept' : 'made'
    return trace.write(response)
  }

  return {
    ...endpoint,
    handle(request) {
      const trace = startTrace(request, true)
      // Nearly nobody asks: they are answered without a detour.
      return trace === null ? endpoint.handle(request) : answerTraced(request, trace)
    },
  }
}
