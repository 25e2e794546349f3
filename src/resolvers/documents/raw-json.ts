// Values of the `JSON` scalar: stored text that goes into the response unchanged.

const RAW = Symbol('raw JSON text')

/** JSON that is read from the store while it is sent. Each call of `chunks` reads the same bytes again. */
export interface StreamedJson {
  readonly byteLength: number
  readonly chunks: () => AsyncIterable<Uint8Array>
}

/** JSON as a string, as UTF-8 bytes, or as a stream of UTF-8 bytes. */
export type JsonText = string | Uint8Array | StreamedJson

export interface RawJson {
  readonly [RAW]: JsonText
}

export function toRawJson(text: JsonText): RawJson {
  return { [RAW]: text }
}

/** The text of a value that `toRawJson` made; null for every other value. */
export function rawTextOf(value: unknown): JsonText | null {
  return typeof value === 'object' && value !== null && RAW in value ? (value as RawJson)[RAW] : null
}
