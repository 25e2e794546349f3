// Marks fields that are members of the stored document: their value is cut out of its text as written, without parsing
// the document.

export interface HasText {
  readonly text: string
  /** The object that the store returned, if this object was derived from it. */
  readonly stored?: object
}

export interface MemberField {
  readonly name: string
  /** Takes the member's JSON text as written and returns the field's JSON text; null if the member has another type. */
  readonly accept: (written: string) => string | null
  /** The same for a long text, if that takes long: reads about `pieceLength` UTF-16 units, then yields. */
  readonly acceptInPieces?: (written: string, pieceLength: number) => Generator<void, string | null>
}

const MEMBER = Symbol('member of the stored document')

/** Marks a resolver as equivalent to `member`, so that an executor may read the member's text instead of calling it. */
export function fromMember<T extends (...args: never[]) => unknown>(resolve: T, member: MemberField): T {
  return Object.assign(resolve, { [MEMBER]: member })
}

export function memberOf(resolve: unknown): MemberField | null {
  return typeof resolve === 'function' && MEMBER in resolve ? (resolve[MEMBER] as MemberField) : null
}
