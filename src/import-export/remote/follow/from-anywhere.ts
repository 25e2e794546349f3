// Chooses which user of a round is asked first.

/**
 * In the same order, beginning with a random one: a server that limits requests ends round after round early, and those
 * at the end must get their turn. No fixed place, which users who get no answer could keep for themselves.
 */
export function fromAnywhere<T>(users: readonly T[]): readonly T[] {
  const start = Math.floor(Math.random() * users.length)
  return [...users.slice(start), ...users.slice(0, start)]
}
