// OTLP's JSON in its binary form, for receivers that take no other: the messages of opentelemetry-proto that spans here are made of,
// field by field, written as https://protobuf.dev/programming-guides/encoding says.

type Kind = 'text' | 'hex' | 'varint' | 'fixed64' | Message

interface Field {
  readonly number: number
  readonly kind: Kind
}

/** Its fields by their names in JSON. */
type Message = { readonly [name: string]: Field }

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2

const text = (number: number): Field => ({ number, kind: 'text' })
const hex = (number: number): Field => ({ number, kind: 'hex' })
const varint = (number: number): Field => ({ number, kind: 'varint' })
const fixed64 = (number: number): Field => ({ number, kind: 'fixed64' })
const message = (number: number, kind: Message): Field => ({ number, kind })

// common.proto, resource.proto and trace.proto, version 1
const KEY_VALUE: Message = { key: text(1), value: message(2, { stringValue: text(1), intValue: varint(3) }) }
const SPAN: Message = {
  traceId: hex(1),
  spanId: hex(2),
  parentSpanId: hex(4),
  name: text(5),
  kind: varint(6),
  startTimeUnixNano: fixed64(7),
  endTimeUnixNano: fixed64(8),
  attributes: message(9, KEY_VALUE),
  status: message(15, { code: varint(3) }),
}
const SCOPE_SPANS: Message = { scope: message(1, { name: text(1), version: text(2) }), spans: message(2, SPAN) }
const RESOURCE_SPANS: Message = {
  resource: message(1, { attributes: message(1, KEY_VALUE) }),
  scopeSpans: message(2, SCOPE_SPANS),
}
const REQUEST: Message = { resourceSpans: message(1, RESOURCE_SPANS) }

/** Of an `ExportTraceServiceRequest`. Throws for a member that the table does not have: none gets lost. */
export function toProtobuf(json: string): Uint8Array<ArrayBuffer> {
  return toBytes(REQUEST, JSON.parse(json))
}

function toBytes(fields: Message, value: object): Uint8Array<ArrayBuffer> {
  return Buffer.concat(
    Object.entries(value).flatMap(([name, member]) => {
      const field = fields[name]
      if (!field) throw new Error(`OTLP in binary: ${name} is not known`)
      return (Array.isArray(member) ? member : [member]).flatMap((one) => fieldBytes(field, one))
    }),
  )
}

function fieldBytes({ number, kind }: Field, value: string | number | object): readonly Uint8Array[] {
  if (kind === 'varint') return [tag(number, VARINT), toVarint(BigInt(String(value)))]
  if (kind === 'fixed64') {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(String(value)))
    return [tag(number, FIXED64), bytes]
  }
  const bytes =
    typeof kind === 'object'
      ? toBytes(kind, Object(value))
      : Buffer.from(String(value), kind === 'hex' ? 'hex' : 'utf8')
  return [tag(number, LENGTH), toVarint(BigInt(bytes.byteLength)), bytes]
}

function tag(number: number, wireType: number): Uint8Array {
  return toVarint(BigInt((number << 3) | wireType))
}

/** Of what is not negative. */
function toVarint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Uint8Array.of(...bytes, Number(rest))
}
