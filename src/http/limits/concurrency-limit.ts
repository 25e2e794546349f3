// So many at a time for each owner: more of one owner wait in line, and nobody else waits for them.

/** Runs `work` when it is its turn. Answers, or fails, as it does. */
export type LimitConcurrency = <T>(owner: number, work: () => Promise<T>) => Promise<T>

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

export function createConcurrencyLimit(maxRunning: number): LimitConcurrency {
  const lines = new Map<number, Line>()

  function lineOf(owner: number): Line {
    const known = lines.get(owner)
    if (known) return known
    const line = { running: 0, waiting: [] }
    lines.set(owner, line)
    return line
  }

  function leave(owner: number, line: Line): void {
    const next = line.waiting.shift()
    // Whoever is next takes the place: it is never free in between.
    if (next) next()
    else line.running -= 1
    if (line.running === 0) lines.delete(owner)
  }

  return async (owner, work) => {
    const line = lineOf(owner)
    if (line.running < maxRunning) line.running += 1
    else await new Promise<void>((resolve) => line.waiting.push(resolve))
    try {
      return await work()
    } finally {
      leave(owner, line)
    }
  }
}
