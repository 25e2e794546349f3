// What every request goes through, in running order: one list.
import { createCors } from './cors.ts'
import { createDispatch } from './dispatch.ts'
import { type ReportFailure, toProblem } from './failures.ts'
import type { Endpoint, Handler, Layer } from './handler.ts'

export interface PipelineOptions {
  /** Stands before every path: empty, or `/` and at least one segment. */
  readonly basePath: string
  /** Origins whose pages may read the answers. */
  readonly corsOrigins: readonly string[]
  readonly report: ReportFailure
}

export function createPipeline(endpoints: readonly Endpoint[], options: PipelineOptions): Handler {
  const layers: readonly Layer[] = [
    createCors(options.corsOrigins),
    failuresAsProblems(options.report),
    underBasePath(options.basePath),
  ]
  return layers.reduceRight<Handler>((next, layer) => layer(next), createDispatch(endpoints))
}

function failuresAsProblems(report: ReportFailure): Layer {
  return (next) => async (request) => {
    try {
      return await next(request)
    } catch (error) {
      return toProblem(error, report)
    }
  }
}

/** A path outside the base path matches no endpoint. */
function underBasePath(basePath: string): Layer {
  if (basePath === '') return (next) => next
  return (next) => (request) => {
    const { path } = request
    const inside = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path === basePath ? '/' : ''
    return next({ ...request, path: inside })
  }
}
