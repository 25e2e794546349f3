// A gate in front of answers, which a test holds shut for a while.

export interface Gate {
  /** Resolves once the gate is open. */
  readonly passed: () => Promise<void>
  /** Shuts the gate until the returned function is called. */
  readonly hold: () => () => void
}

export function createGate(): Gate {
  let opened = Promise.resolve()
  return {
    passed: () => opened,
    hold() {
      const held = Promise.withResolvers<void>()
      opened = held.promise
      return held.resolve
    },
  }
}
