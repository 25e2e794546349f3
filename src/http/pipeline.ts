// Composes the middleware that every request passes, in running order, around the router.
import { createCors, type ReportRefusedOrigin } from './cors.ts'
import type { Endpoint, Handler, Middleware } from './handler.ts'
import { type ReportFailure, toProblem } from './problem-details.ts'
import { requestIdOf } from './request-id.ts'
import { createRouter } from './router.ts'

export interface PipelineOptions {
  /** Prefix of every path: empty, or `/` and at least one segment. */
  readonly basePath: string
  /** Origins whose pages may read the answers. */
  readonly corsOrigins: readonly string[]
  readonly reportRefusedOrigin: ReportRefusedOrigin
  readonly report: ReportFailure
  /** Sees every answer, including failures, once its route is known. */
  readonly announce?: Middleware
}

export function createPipeline(endpoints: readonly Endpoint[], options: PipelineOptions): Handler {
  const layers: readonly Middleware[] = [
    createCors(options.corsOrigins, options.reportRefusedOrigin),
    ...(options.announce ? [options.announce] : []),
    failuresAsProblems(options.report),
    underBasePath(options.basePath),
  ]
  return layers.reduceRight<Handler>((next, layer) => layer(next), createRouter(endpoints))
}

function failuresAsProblems(report: ReportFailure): Middleware {
  return (next) => async (request) => {
    try {
      return await next(request)
    } catch (error) {
      return toProblem(error, report, requestIdOf(request))
    }
  }
}

/** A path outside the base path matches no endpoint. `*` is not a path: it means the server as a whole. */
function underBasePath(basePath: string): Middleware {
  if (basePath === '') return (next) => next
  return (next) => (request) => {
    const { path } = request
    if (path === '*') return next(request)
    const inside = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path === basePath ? '/' : ''
    return next({ ...request, path: inside })
  }
}
