// Where traces go and which, by the standard variables (OpenTelemetry specification, "Environment Variables" and "OTLP Exporter").
import { UsageError } from '../../errors.ts'

/** The first one by default, as the standard says. */
const PROTOCOLS = ['http/protobuf', 'http/json'] as const

type Variables = Readonly<Record<string, string | undefined>>

export interface TraceSettings {
  /** Of the receiver, with its path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: (typeof PROTOCOLS)[number]
  readonly timeoutMs: number
  /** Of the service: `service.name` and what is added. */
  readonly resource: Readonly<Record<string, string>>
  /** The part of all traces that begin here, 0 to 1. */
  readonly ratio: number
  /** Whether a caller's decision counts. */
  readonly isParentBased: boolean
  /** How long spans wait for others. */
  readonly delayMs: number
  /** Requests whose spans wait at most. */
  readonly maxQueued: number
  /** Requests whose spans are sent at once: a post takes about as long however small it is. */
  readonly maxBatch: number
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const

const ATTRIBUTE = /^[^=]+=/
/** Its name as RFC 9110 section 5.6.2 has it: no other can be sent. */
const HEADER = /^[\w!#$%&'*+.^`|~-]+\s*=/

/** Null unless a receiver is named. Throws one `UsageError` that names every variable that is wrong. */
export function readTraceSettings(variables: Variables): TraceSettings | null {
  const of = (name: string) => variables[name]?.trim() || undefined
  const base = of('OTEL_EXPORTER_OTLP_ENDPOINT')
  const whole = of('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const isOff = of('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || of('OTEL_TRACES_EXPORTER') === 'none'
  if ((base === undefined && whole === undefined) || isOff) return null
  const wrong: string[] = []

  function number(name: string, byDefault: number, max = Number.POSITIVE_INFINITY): number {
    const value = of(name) === undefined ? byDefault : Number(of(name))
    if (Number.isFinite(value) && value >= 0 && value <= max) return value
    wrong.push(`${name}: must be a number${max === 1 ? ' from 0 to 1' : ', 0 or more'}`)
    return byDefault
  }

  function pairs(name: string, form: RegExp): Readonly<Record<string, string>> {
    const written = (of(name) ?? '').split(',').flatMap((pair) => pair.trim() || [])
    // A value may be a key of the receiver's: it is not repeated.
    if (!written.every((pair) => form.test(pair))) wrong.push(`${name}: must be NAME=VALUE, several with commas`)
    const read = written.map((pair) => {
      const [key = '', ...value] = pair.split('=')
      return [key.trim(), decoded(value.join('=').trim())] as const
    })
    return Object.fromEntries(read)
  }

  const url = whole ?? `${base?.replace(/\/$/, '')}/v1/traces`
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    wrong.push('OTEL_EXPORTER_OTLP_ENDPOINT: must be like http://127.0.0.1:4318')
  }
  const asked = of('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? of('OTEL_EXPORTER_OTLP_PROTOCOL') ?? PROTOCOLS[0]
  const protocol = PROTOCOLS.find((name) => name === asked)
  if (protocol === undefined) {
    const help = asked === 'grpc' ? 'grpc is not spoken here, use the port for HTTP (4318) and' : 'must be'
    wrong.push(`OTEL_EXPORTER_OTLP_PROTOCOL: ${help} ${PROTOCOLS.join(' or ')}`)
  }
  const sampler = of('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on'
  const root = SAMPLERS.find((name) => name === sampler.replace(/^parentbased_/, ''))
  if (root === undefined)
    wrong.push(`OTEL_TRACES_SAMPLER: must be one of ${SAMPLERS.join(', ')}, also as parentbased_…`)
  const ratio = root === 'traceidratio' ? number('OTEL_TRACES_SAMPLER_ARG', 1, 1) : root === 'always_off' ? 0 : 1
  const attributes = pairs('OTEL_RESOURCE_ATTRIBUTES', ATTRIBUTE)
  const maxQueued = number('OTEL_BSP_MAX_QUEUE_SIZE', 2_048)
  const maxBatch = number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1_024)
  const settings = {
    url,
    headers: {
      ...pairs('OTEL_EXPORTER_OTLP_HEADERS', HEADER),
      ...pairs('OTEL_EXPORTER_OTLP_TRACES_HEADERS', HEADER),
    },
    protocol: protocol ?? PROTOCOLS[0],
    timeoutMs: number('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000),
    resource: {
      'service.name': 'workspace-gateway',
      ...attributes,
      ...(of('OTEL_SERVICE_NAME') === undefined ? {} : { 'service.name': of('OTEL_SERVICE_NAME') ?? '' }),
    },
    ratio,
    isParentBased: sampler.startsWith('parentbased_'),
    delayMs: number('OTEL_BSP_SCHEDULE_DELAY', 5_000),
    maxQueued,
    // While one batch is sent, the next one has room to wait.
    maxBatch: Math.max(1, Math.min(maxBatch, Math.ceil(maxQueued / 2))),
  }
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'))
  return settings
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
