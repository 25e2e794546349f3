// Opens the tracer when the standard variables OTEL_… ask for one. Otherwise no tracing code is loaded.
import cluster from 'node:cluster'
import type { Logger } from 'pino'
import type { ExportReport } from '../../admin/tracing/exporter.ts'
import type { RequestScope } from '../../admin/tracing/request-scope.ts'
import type { TraceSettings } from '../../admin/tracing/trace-settings.ts'
import type { Tracer } from '../../admin/tracing/tracer.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { excerpt, redact } from '../../redact.ts'
import { databasePath } from '../../store/open-store.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { packageVersion } from '../serving/package-version.ts'
import { onceAMinute } from './once-a-minute.ts'

type Environment = Readonly<Record<string, string | undefined>>
type TracerConfig = Pick<ServeConfig, 'basePath' | 'database' | 'databaseNext' | 'databaseTraceComments'>

export interface OpenTracer extends Tracer {
  /** Null unless database statements carry their trace as a comment. */
  readonly scope: RequestScope | null
}

/** Throws `UsageError` when `--database-trace-comments` can have no effect. */
export function requireTraceableDatabase({ database, databaseNext, databaseTraceComments }: TracerConfig): void {
  if (!databaseTraceComments || databasePath(database) === null) return
  if (databaseNext !== undefined && databasePath(databaseNext) === null) return
  throw new UsageError(
    '--database-trace-comments: SQLite has no log of statements: leave it out, or name a server with --database postgres://…',
  )
}

/** Variables that turn tracing on. Without any of them nothing is traced, whatever the other variables say. */
const ASKING = /^OTEL_(?:EXPORTER_OTLP_|TRACES_EXPORTER$)/

/** Null when no receiver is configured. Throws one `UsageError` that names every invalid variable. */
export async function readTracing(environment: Environment): Promise<TraceSettings | null> {
  if (!Object.keys(environment).some((name) => ASKING.test(name))) return null
  const { readTraceSettings } = await import('../../admin/tracing/trace-settings.ts')
  return readTraceSettings(environment)
}

/** What a receiver says about spans that it answered with 200. */
const REMARKS = {
  rejection: 'the receiver of the traces rejects spans: they are lost',
  warning: 'the receiver of the traces accepts all spans, but warns',
} as const

export async function openTracer(
  settings: TraceSettings | null,
  { basePath, databaseTraceComments }: TracerConfig,
  log: Logger,
): Promise<OpenTracer | null> {
  if (settings === null) {
    // Of several workers only the first one warns.
    if (databaseTraceComments && (!cluster.isWorker || cluster.worker?.id === 1)) {
      log.warn(
        'database-trace-comments: no request is traced, so no statement gets a comment: set OTEL_EXPORTER_OTLP_ENDPOINT',
      )
    }
    return null
  }
  const { createTracer } = await import('../../admin/tracing/tracer.ts')
  let rejected = 0
  const isDue = onceAMinute<keyof typeof REMARKS>(() => performance.now())
  const report: ExportReport = {
    onFailure: (error, lost) =>
      log.warn(
        { reason: redact(reasonOf(error)), lost },
        'traces cannot be sent: the traces of these requests are lost',
      ),
    onRecovery: (lost) => log.info({ lost }, 'traces are sent again'),
    onPartialSuccess({ rejectedSpans, message }) {
      rejected += rejectedSpans
      const remark = rejectedSpans > 0 ? 'rejection' : 'warning'
      if (isDue(remark)) log.warn({ reason: redact(excerpt(message)), rejected }, REMARKS[remark])
    },
  }
  const tracer = createTracer(settings, { version: packageVersion(), basePath }, report)
  return { ...tracer, scope: databaseTraceComments ? await createScope() : null }
}

async function createScope(): Promise<RequestScope> {
  const { createRequestScope } = await import('../../admin/tracing/request-scope.ts')
  return createRequestScope()
}
