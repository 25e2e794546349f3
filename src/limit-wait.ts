// Limits the wait for each part of a stream.

/**
 * Yields the parts. Calls `giveUp`, which should end the stream, when one takes longer than `ms` milliseconds. The clock
 * runs only while the consumer waits for the next part.
 */
export async function* limitWait<T>(
  parts: AsyncIterable<T> | Iterable<T>,
  ms: number,
  giveUp: () => void,
): AsyncGenerator<T> {
  let timer = setTimeout(giveUp, ms)
  try {
    for await (const part of parts) {
      clearTimeout(timer)
      yield part
      timer = setTimeout(giveUp, ms)
    }
  } finally {
    clearTimeout(timer)
  }
}
