// What a hostile request is, and which outcomes it may have.

/** `STATUS` or `STATUS CODE`, with the code of the first error. */
export type Outcome = string

export interface Shape {
  readonly name: string
  /** Made when it is sent, because some are a megabyte. */
  readonly request: () => HostileRequest
  /** Each of them is an allowed outcome. */
  readonly anonymous: readonly Outcome[]
  readonly signedIn: readonly Outcome[]
  /** The bound of the answer's size, if it is not the usual bound of a refusal. */
  readonly maxAnswerBytes?: number
}

export interface HostileRequest {
  readonly method?: 'GET' | 'POST'
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The document itself is at fault, or requests more than a document may. */
export const REFUSED: readonly Outcome[] = ['400 GRAPHQL_PARSE_FAILED', '400 GRAPHQL_VALIDATION_FAILED']
export const TOO_MUCH: readonly Outcome[] = ['400 RESPONSE_TOO_LARGE', '200 RESPONSE_TOO_LARGE']
/** The outcomes for a caller who is not signed in: the document is executed without data, or is too much. */
export const GUEST: readonly Outcome[] = ['200 UNAUTHENTICATED', ...REFUSED]
/** A full answer, or a refusal to do as much. */
export const BOUNDED: readonly Outcome[] = ['200', ...REFUSED, ...TOO_MUCH]

/** A stranger's request is not read if it is longer, in characters. */
const MAX_STRANGERS_LENGTH = 16_384
const TOO_LONG: readonly Outcome[] = ['401 UNAUTHENTICATED', '413 BODY_TOO_LARGE']

/** The allowed outcomes when a stranger sends this request, which was made of the shape. */
export function anonymousOutcomes({ anonymous }: Shape, { body = '' }: HostileRequest): readonly Outcome[] {
  return body.length > MAX_STRANGERS_LENGTH ? TOO_LONG : anonymous
}

export function documentRequest(query: string, more: object = {}): HostileRequest {
  return { body: JSON.stringify({ query, ...more }) }
}

/** A document that is refused, whoever sends it. */
export function refused(name: string, document: () => string, more: object = {}): Shape {
  return { name, request: () => documentRequest(document(), more), anonymous: REFUSED, signedIn: REFUSED }
}

/** A document that reads much of what the viewer has. */
export function read(name: string, document: () => string): Shape {
  const request = () => documentRequest(document())
  return { name, request, anonymous: GUEST, signedIn: BOUNDED, maxAnswerBytes: Number.POSITIVE_INFINITY }
}

/** A document that costs much and returns little: it may be answered, and its cost is bounded. */
export function costly(name: string, document: () => string, more: object = {}): Shape {
  const outcomes = ['200', '200 UNAUTHENTICATED', ...REFUSED, ...TOO_MUCH]
  return {
    name,
    request: () => documentRequest(document(), more),
    anonymous: outcomes,
    signedIn: outcomes,
    maxAnswerBytes: 8_388_608,
  }
}

export function times(count: number, make: (index: number) => string, separator = ' '): string {
  return Array.from({ length: count }, (_, index) => make(index)).join(separator)
}
