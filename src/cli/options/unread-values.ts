// Wraps a configuration in which some values could not be read, so that every check that does not need them still runs.

/** Thrown when a check reads a value that could not be read. That problem has already been reported. */
export class ValueUnreadError extends Error {
  override readonly name = 'ValueUnreadError'
}

/** Returns the configuration as a proxy that throws `ValueUnreadError` when a name in `unread` is read. */
export function withUnread<T extends object>(config: T, unread: ReadonlySet<string>): T {
  return new Proxy(config, {
    get(target, name) {
      if (typeof name === 'string' && unread.has(name)) throw new ValueUnreadError(name)
      return Reflect.get(target, name)
    },
  })
}
