// Passes lines on until a command is told to stop.

/** Throws the reason of `stop` once it is aborted. */
export async function* untilStopped(lines: AsyncIterable<string>, stop: AbortSignal): AsyncGenerator<string> {
  for await (const line of lines) {
    stop.throwIfAborted()
    yield line
  }
}
