// Which requests are traced, and their spans when they were answered.
import type { ObserveResponse } from '../../http/handler.ts'
import { createIds } from '../../http/random-ids.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { createExporter, type ExportReport, type TracedGateway } from './exporter.ts'
import { type ParentSpan, readTraceparent } from './trace-context.ts'
import type { TraceSettings } from './trace-settings.ts'

export interface Tracer extends AsyncDisposable {
  /** At the beginning of a request: from here on its steps are recorded, where it is traced. */
  readonly start: (request: GatewayRequest) => void
  readonly observe: ObserveResponse
}

/** Of the trace id as a number: its last 7 bytes, as the sampler `traceidratio` compares them. */
const RATIO_DIGITS = 13

export function createTracer(settings: TraceSettings, gateway: TracedGateway, report: ExportReport): Tracer {
  const exporter = createExporter(settings, gateway, report)
  const newTraceId = createIds(16)
  const newSpanId = createIds(8)
  const { ratio, isContinued, isParentBased } = settings

  function isSampled(traceId: string): boolean {
    return ratio === 1 || Number.parseInt(traceId.slice(-RATIO_DIGITS), 16) < ratio * 16 ** RATIO_DIGITS
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
