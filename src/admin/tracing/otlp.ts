// Defines the OTLP messages for traces (opentelemetry-proto, common.proto, resource.proto, trace.proto and
// trace_service.proto, version 1): their field numbers, and a conversion of messages to JSON.

export const REQUEST = { resourceSpans: 1 } as const
export const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 } as const
export const RESOURCE = { attributes: 1 } as const
export const SCOPE_SPANS = { scope: 1, spans: 2 } as const
export const SCOPE = { name: 1, version: 2 } as const
export const SPAN = {
  traceId: 1,
  spanId: 2,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTimeUnixNano: 7,
  endTimeUnixNano: 8,
  attributes: 9,
  status: 15,
} as const
export const KEY_VALUE = { key: 1, value: 2 } as const
export const ANY_VALUE = { stringValue: 1, intValue: 3 } as const
export const STATUS = { code: 3 } as const
const RESPONSE = { partialSuccess: 1 } as const
const PARTIAL_SUCCESS = { rejectedSpans: 1, errorMessage: 2 } as const

type Fields = Readonly<Record<string, number>>

/** Members that are messages. */
const MESSAGES: Readonly<Record<string, Fields>> = {
  resourceSpans: RESOURCE_SPANS,
  resource: RESOURCE,
  scopeSpans: SCOPE_SPANS,
  scope: SCOPE,
  spans: SPAN,
  attributes: KEY_VALUE,
  value: ANY_VALUE,
  status: STATUS,
  partialSuccess: PARTIAL_SUCCESS,
}
const REPEATED = new Set(['resourceSpans', 'scopeSpans', 'spans', 'attributes'])
/** Members that are bytes. OTLP writes them as hexadecimal digits, unlike protobuf's own JSON. */
const IDS = new Set(['traceId', 'spanId', 'parentSpanId'])
/** A 64-bit integer is a string in JSON. */
const LONG = new Set(['intValue', 'rejectedSpans'])

/** Converts an `ExportTraceServiceRequest` that this gateway wrote. Throws for a field that the table does not have. */
export function toJson(bytes: Buffer): string {
  return JSON.stringify(readMessage(REQUEST, bytes))
}

/** Reads an `ExportTraceServiceResponse` into its form in JSON. Throws for a field that the table does not have. */
export function readResponse(bytes: Buffer): object {
  return readMessage(RESPONSE, bytes)
}

function readMessage(fields: Fields, bytes: Buffer): object {
  const names = new Map(Object.entries(fields).map(([name, number]) => [number, name]))
  const members: Record<string, unknown> = {}
  const lists = new Map<string, unknown[]>()
  let at = 0

  function readNumber(): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes.readUInt8(at)
      at += 1
      value += (byte & 0x7f) * unit
      if (byte < 0x80) return value
    }
  }

  function readField(name: string, wireType: number): unknown {
    if (wireType === 0) return LONG.has(name) ? String(readNumber()) : readNumber()
    const length = wireType === 1 ? 8 : readNumber()
    at += length
    const value = bytes.subarray(at - length, at)
    if (wireType === 1) return String(value.readBigUInt64LE())
    const message = MESSAGES[name]
    if (message) return readMessage(message, value)
    return value.toString(IDS.has(name) ? 'hex' : 'utf8')
  }

  while (at < bytes.byteLength) {
    const tag = readNumber()
    const name = names.get(tag >> 3)
    if (name === undefined) throw new Error(`OTLP in JSON: unknown field ${tag >> 3}`)
    const value = readField(name, tag & 7)
    if (!REPEATED.has(name)) {
      members[name] = value
      continue
    }
    const list = lists.get(name) ?? []
    list.push(value)
    lists.set(name, list)
  }
  // The writer works from the end, so repeated fields appear in reverse order.
  for (const [name, list] of lists) members[name] = list.toReversed()
  return members
}
