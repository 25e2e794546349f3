// A configuration in which some values could not be read: what needs one of them is left out, and all else is still checked.

/** Thrown by whoever asks for a value that could not be read, which has been told already. */
export class ValueUnreadError extends Error {
  override readonly name = 'ValueUnreadError'
}

/** The configuration, which throws `ValueUnreadError` when one of these names is read. */
export function withUnread<T extends object>(config: T, unread: ReadonlySet<string>): T {
  return new Proxy(config, {
    get(target, name) {
      if (typeof name === 'string' && unread.has(name)) throw new ValueUnreadError(name)
      return Reflect.get(target, name)
    },
  })
}
