// Reads the trace settings from the standard variables (OpenTelemetry specification, "Environment Variables" and "OTLP
// Exporter").
import { UsageError } from '../../errors.ts'

/** The first one is the default, as the standard defines. */
const PROTOCOLS = ['http/protobuf', 'http/json'] as const
const COMPRESSIONS = ['none', 'gzip'] as const
const EXPORTERS = ['otlp', 'none'] as const
/** Endpoint of a receiver that is enabled without an address. */
const DEFAULT_ENDPOINT = 'http://localhost:4318'
/** Node runs a timer with a longer delay after 1 ms. */
const MAX_WAIT_MS = 2_147_483_647
const TRACE_CONTEXT = 'tracecontext'
/** Baggage is accepted but not read, since nothing here would use it. */
const PROPAGATORS = [TRACE_CONTEXT, 'baggage', 'none']

type Variables = Readonly<Record<string, string | undefined>>

export interface TraceSettings {
  /** Address of the receiver, including the path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: (typeof PROTOCOLS)[number]
  readonly compression: (typeof COMPRESSIONS)[number]
  readonly timeoutMs: number
  /** Resource attributes: `service.name` and the configured ones. */
  readonly resource: Readonly<Record<string, string>>
  /** Fraction of the traces begun here that are sampled, 0 to 1. */
  readonly ratio: number
  /** Whether a request continues the trace of its caller. */
  readonly isContinued: boolean
  /** Whether the caller's sampling decision is followed. */
  readonly isParentBased: boolean
  /** Milliseconds that spans wait for others to share a batch. */
  readonly delayMs: number
  /** Maximum number of requests whose spans wait. */
  readonly maxQueued: number
  /** Maximum number of requests per batch: a post takes about as long however small it is. */
  readonly maxBatch: number
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const

const AUTHORITY = 'is not supported: name the file in NODE_EXTRA_CA_CERTS'
const CLIENT_CERTIFICATE = 'is not supported: authenticate to the receiver with OTEL_EXPORTER_OTLP_HEADERS'
/** Variables of the standard that would have no effect. Each also exists for traces alone. */
const UNSUPPORTED = { CERTIFICATE: AUTHORITY, CLIENT_KEY: CLIENT_CERTIFICATE, CLIENT_CERTIFICATE }

const ATTRIBUTE = /^[^=]+=/
/** A header whose name is a token (RFC 9110 section 5.6.2): no other name can be sent. */
const HEADER = /^[\w!#$%&'*+.^`|~-]+\s*=/

/** Returns null unless a receiver is configured. Throws one `UsageError` that names every invalid variable. */
export function readTraceSettings(variables: Variables): TraceSettings | null {
  const of = (name: string) => variables[name]?.trim() || undefined
  /** The name of the variable that counts: the one for traces overrides the one for all signals. */
  const nameOf = (name: string) => {
    const ofTraces = `OTEL_EXPORTER_OTLP_TRACES_${name}`
    return of(ofTraces) === undefined ? `OTEL_EXPORTER_OTLP_${name}` : ofTraces
  }
  const otlp = (name: string) => of(nameOf(name))
  const exporter = of('OTEL_TRACES_EXPORTER')
  const isOff = of('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none'
  if (isOff || (exporter ?? otlp('ENDPOINT')) === undefined) return null
  const base = of('OTEL_EXPORTER_OTLP_ENDPOINT') ?? DEFAULT_ENDPOINT
  const whole = of('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const wrong: string[] = []

  function number(name: string, byDefault: number, max = Number.POSITIVE_INFINITY): number {
    const value = of(name) === undefined ? byDefault : Number(of(name))
    if (Number.isFinite(value) && value >= 0 && value <= max) return value
    wrong.push(`${name}: must be a number${max < Number.POSITIVE_INFINITY ? ` from 0 to ${max}` : ', 0 or more'}`)
    return byDefault
  }

  function pairs(name: string, form: RegExp): Readonly<Record<string, string>> {
    const written = (of(name) ?? '').split(',').flatMap((pair) => pair.trim() || [])
    // The message does not repeat the value: it may be a key of the receiver.
    if (!written.every((pair) => form.test(pair))) wrong.push(`${name}: must be NAME=VALUE pairs, separated by commas`)
    const read = written.map((pair) => {
      const [key = '', ...value] = pair.split('=')
      return [key.trim(), decoded(value.join('=').trim())] as const
    })
    return Object.fromEntries(read)
  }

  function oneOf<T extends string>(name: string, value: string, known: readonly [T, ...T[]], help = 'must be'): T {
    const found = known.find((each) => each === value)
    if (found === undefined) wrong.push(`${name}: ${help} ${known.join(' or ')}`)
    return found ?? known[0]
  }

  if (exporter !== undefined) oneOf('OTEL_TRACES_EXPORTER', exporter, EXPORTERS)
  const url = whole ?? `${base.replace(/\/$/, '')}/v1/traces`
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    wrong.push(`${nameOf('ENDPOINT')}: must be like http://127.0.0.1:4318`)
  }
  const protocol = otlp('PROTOCOL') ?? PROTOCOLS[0]
  const help = protocol === 'grpc' ? 'grpc is not supported: use the port for HTTP (4318) and' : 'must be'
  const propagators = (of('OTEL_PROPAGATORS') ?? TRACE_CONTEXT).split(',').map((name) => name.trim())
  if (!propagators.every((name) => PROPAGATORS.includes(name))) {
    wrong.push(`OTEL_PROPAGATORS: must be ${PROPAGATORS.join(' or ')}, separated by commas`)
  }
  for (const [name, reason] of Object.entries(UNSUPPORTED)) {
    for (const variable of [`OTEL_EXPORTER_OTLP_${name}`, `OTEL_EXPORTER_OTLP_TRACES_${name}`])
      if (of(variable) !== undefined) wrong.push(`${variable}: ${reason}`)
  }
  const sampler = of('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on'
  const root = SAMPLERS.find((name) => name === sampler.replace(/^parentbased_/, ''))
  if (root === undefined)
    wrong.push(`OTEL_TRACES_SAMPLER: must be one of ${SAMPLERS.join(', ')}, with or without the prefix parentbased_`)
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
    protocol: oneOf(nameOf('PROTOCOL'), protocol, PROTOCOLS, help),
    compression: oneOf(nameOf('COMPRESSION'), otlp('COMPRESSION') ?? 'none', COMPRESSIONS),
    timeoutMs: number(
      'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
      number('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000, MAX_WAIT_MS),
      MAX_WAIT_MS,
    ),
    resource: {
      'service.name': 'workspace-gateway',
      ...attributes,
      ...(of('OTEL_SERVICE_NAME') === undefined ? {} : { 'service.name': of('OTEL_SERVICE_NAME') ?? '' }),
    },
    ratio,
    isContinued: propagators.includes(TRACE_CONTEXT),
    isParentBased: sampler.startsWith('parentbased_'),
    delayMs: number('OTEL_BSP_SCHEDULE_DELAY', 5_000, MAX_WAIT_MS),
    maxQueued,
    // While one batch is being sent, the next one has room in the queue.
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
