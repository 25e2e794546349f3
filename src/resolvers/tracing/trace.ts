// Reports how a response was made and how long each step took, to callers that ask for it, if that is enabled.
import type { Endpoint } from '../../http/handler.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { type GatewayResponse, withHeaders } from '../../http/response.ts'

/** The name of the request header that asks for a trace, and of the response header that contains it. */
const TRACE_HEADER = 'gateway-trace'

export interface Trace {
  /** Ends a step. The step began when the one before it ended. */
  readonly step: (name: string) => void
  /** The GraphQL document: `kept` was cached, `new` was prepared for this request, `none` was not needed. */
  plan: 'kept' | 'new' | 'none'
  reply: 'kept' | 'made'
  /** The response with `Gateway-Trace` and `Server-Timing` (https://www.w3.org/TR/server-timing/). */
  readonly write: (response: GatewayResponse) => GatewayResponse
}

/** Null unless traces are enabled and the request asks for one. */
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

/** Adds a trace with a single step to the responses of an endpoint. Errors that the endpoint throws get no trace. */
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
      // Almost no request asks for a trace. The others skip the extra async function.
      return trace === null ? endpoint.handle(request) : answerTraced(request, trace)
    },
  }
}
