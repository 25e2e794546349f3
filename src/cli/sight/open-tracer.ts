// Traces, where the standard variables ask for them; nothing of it is loaded where they do not.
import type { Logger } from 'pino'
import type { Tracer } from '../../admin/tracing/tracer.ts'
import { packageVersion } from '../serving/package-version.ts'

export async function openTracer(
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Tracer | null> {
  if (!Object.keys(environment).some((name) => name.startsWith('OTEL_EXPORTER_OTLP_'))) return null
  const { readTraceSettings } = await import('../../admin/tracing/trace-settings.ts')
  const settings = readTraceSettings(environment)
  if (settings === null) return null
  const { createTracer } = await import('../../admin/tracing/tracer.ts')
  return createTracer(settings, packageVersion(), (error, lost) =>
    log.warn({ err: error, lost }, 'traces cannot be sent: those of these requests are lost'),
  )
}
