// Fields that are members of the stored document: taken from its text as they are written there, without parsing it.

export interface HasText {
  readonly text: string
  /** What was read from the store, where this is another object that was made of it. */
  readonly stored?: object
}

export interface MemberField {
  readonly name: string
  /** The member's JSON text as the field answers it; null when the member is of another type. */
  readonly accept: (written: string) => string | null
}

const MEMBER = Symbol('member of the stored document')

/** Marks a resolver that answers no more than what `member` says, so that an executor may take the text instead. */
export function fromMember<T extends (...args: never[]) => unknown>(resolve: T, member: MemberField): T {
  return Object.assign(resolve, { [MEMBER]: member })
}

export function memberOf(resolve: unknown): MemberField | null {
  return typeof resolve === 'function' && MEMBER in resolve ? (resolve[MEMBER] as MemberField) : null
}
