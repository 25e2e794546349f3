// Encodes the resource and scope fields that surround the spans of each batch.
import { ANY_VALUE, KEY_VALUE, RESOURCE, RESOURCE_SPANS, SCOPE, SCOPE_SPANS } from './otlp.ts'
import { endMessage, fieldsOf, putBytes } from './protobuf-writer.ts'

const NAME = 'workspace-gateway'
/** Tags and lengths around one string. */
const AROUND_BYTES = 32

/** Encodes `resource` of a `ResourceSpans`. */
export function resourceFields(attributes: Readonly<Record<string, string>>): Uint8Array {
  const pairs = Object.entries(attributes).toReversed()
  return fieldsOf(mostBytesOf(pairs.flat()), (out) => {
    const end = out.start
    for (const [key, value] of pairs) {
      const endOfPair = out.start
      putBytes(out, ANY_VALUE.stringValue, Buffer.from(value))
      endMessage(out, KEY_VALUE.value, endOfPair)
      putBytes(out, KEY_VALUE.key, Buffer.from(key))
      endMessage(out, RESOURCE.attributes, endOfPair)
    }
    endMessage(out, RESOURCE_SPANS.resource, end)
  })
}

/** Encodes `scope` of a `ScopeSpans`. */
export function scopeFields(version: string): Uint8Array {
  return fieldsOf(mostBytesOf([NAME, version]), (out) => {
    const end = out.start
    putBytes(out, SCOPE.version, Buffer.from(version))
    putBytes(out, SCOPE.name, Buffer.from(NAME))
    endMessage(out, SCOPE_SPANS.scope, end)
  })
}

function mostBytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + AROUND_BYTES, AROUND_BYTES)
}
