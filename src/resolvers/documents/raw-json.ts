// A value of the `JSON` scalar: stored text that goes into the response as it is.

const RAW = Symbol('raw JSON text')

/** Bytes of JSON that are read while they are sent. The same each time they are asked for. */
export interface StreamedJson {
  readonly byteLength: number
  readonly chunks: () => AsyncIterable<Uint8Array>
}

/** As a string, in UTF-8, or as a stream of it. */
export type JsonText = string | Uint8Array | StreamedJson

export interface RawJson {
  readonly [RAW]: JsonText
}

export function toRawJson(text: JsonText): RawJson {
  return { [RAW]: text }
}

/** Null for every other value. */
export function rawTextOf(value: unknown): JsonText | null {
  return typeof value === 'object' && value !== null && RAW in value ? (value as RawJson)[RAW] : null
}
