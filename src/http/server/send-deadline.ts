// The write timeout: a client has so long to take what is waiting for it, or loses its connection. `send-response.ts` starts one for each slice.
import type { ServerResponse } from 'node:http'

/** For each slice of an answer: 64 KiB, `SLICE_BYTES` of `send-response.ts`. */
export const DEFAULT_SEND_TIMEOUT_MS = 20_000

/**
 * Runs from when it is this response's turn on its connection: before that, it is the one before it that is slow.
 * Answers what stops it. When it runs out, `onExpired` is called and the connection is reset, so that the kernel drops
 * what it still holds.
 */
export function startDeadline(response: ServerResponse, timeoutMs: number, onExpired: () => void): () => void {
  let timer: NodeJS.Timeout | undefined

  function expire(): void {
    onExpired()
    response.socket?.resetAndDestroy()
  }

  function start(): void {
    timer = setTimeout(expire, timeoutMs)
  }

  if (response.socket) start()
  else response.once('socket', start)
  return () => {
    clearTimeout(timer)
    response.off('socket', start)
  }
}
