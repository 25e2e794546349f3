// Decides which requests are traced, and exports their spans when they are answered.
import type { ObserveResponse } from '../../http/handler.ts'
import { createIds } from '../../http/random-ids.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { createExporter, type ExportReport, type TracedGateway } from './exporter.ts'
import { type ParentSpan, readTraceparent } from './trace-context.ts'
import type { TraceSettings } from './trace-settings.ts'

export interface Tracer extends AsyncDisposable {
  /** Starts a request: if it is traced, its steps are recorded from here on. */
  readonly start: (request: GatewayRequest) => void
  readonly observe: ObserveResponse
}

/**
 * Hexadecimal digits of the trace id that the sampler `traceidratio` compares as a number: the first 52 bits of the
 * last 64, which are more than a number holds. OpenTelemetry leaves the algorithm open. The SDKs for Go, Python and
 * Ruby compare those 64 bits in this way, so a trace that they keep at a ratio is kept here too.
 */
const RATIO_DIGITS = 13
const [RATIO_START, RATIO_END] = [-16, -16 + RATIO_DIGITS]

export function createTracer(settings: TraceSettings, gateway: TracedGateway, report: ExportReport): Tracer {
  const exporter = createExporter(settings, gateway, report)
  const newTraceId = createIds(16)
  const newSpanId = createIds(8)
  const { ratio, isContinued, isParentBased } = settings

  function isSampled(traceId: string): boolean {
    return ratio === 1 || Number.parseInt(traceId.slice(RATIO_START, RATIO_END), 16) < ratio * 16 ** RATIO_DIGITS
  }

  function parentOf({ header }: GatewayRequest): ParentSpan | null {
    return isContinued ? readTraceparent(header('traceparent')) : null
  }

  return {
    start(request) {
      const { record } = request
      const parent = parentOf(request)
      const traceId = parent?.traceId ?? newTraceId()
      if (!(parent && isParentBased ? parent.isSampled : isSampled(traceId))) return
      record.traceId = traceId
      record.spanId = newSpanId()
      record.steps = []
    },
    observe(request) {
      const { traceId, spanId } = request.record
      if (traceId === null || spanId === null) return
      const parent = parentOf(request)
      exporter.add({ request, traceId, spanId, parent, newSpanId })
    },
    [Symbol.asyncDispose]: () => exporter[Symbol.asyncDispose](),
  }
}
