// Reads a member of a value of unknown type, such as an error or parsed JSON.

/** Undefined for any value that has no such member, also for null and undefined. */
export function memberOf(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name)
}
