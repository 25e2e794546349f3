// What is in stored documents: each is parsed once per request at most, and only if a typed field is asked for.

export interface HasText {
  readonly text: string
}

export type Fields = Readonly<Record<string, unknown>>

/** None for a document that is not an object. For one request. */
export type FieldsOf = (document: HasText) => Fields

export function createFieldsOf(): FieldsOf {
  // Dies with its request. One WeakMap for all requests costs the garbage collector more than the parsing costs.
  const parsed = new Map<HasText, Fields>()
  return (document) => {
    const known = parsed.get(document)
    if (known) return known
    const value: unknown = JSON.parse(document.text)
    const fields = typeof value === 'object' && value !== null ? (value as Fields) : {}
    parsed.set(document, fields)
    return fields
  }
}
