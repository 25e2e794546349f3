// Enforces the write timeout: a client that does not take the pending bytes in time loses its connection.
// `send-response.ts` starts one deadline per slice.
import type { ServerResponse } from 'node:http'
import { createRoundRobin, ONE_A_TURN } from '../limits/round-robin-scheduler.ts'

/** Starts a deadline and returns the function that stops it. */
export type StartDeadline = (response: ServerResponse, timeoutMs: number, onExpired: () => void) => () => void

/**
 * The deadline starts when it is this response's turn on its connection: before that, the response ahead of it is the
 * slow one. When it expires, `onExpired` is called and the connection is reset, so that the kernel drops its buffers.
 * Those may be megabytes, and clients that stalled together expire together, so only one connection is reset per turn
 * of the event loop.
 */
export function createSendDeadlines(): StartDeadline {
  const takeTurns = createRoundRobin(ONE_A_TURN)

  return (response, timeoutMs, onExpired) => {
    let timer: NodeJS.Timeout | undefined
    let isStopped = false

    async function expire(): Promise<void> {
      await takeTurns()
      if (isStopped) return
      onExpired()
      response.socket?.resetAndDestroy()
    }

    function start(): void {
      timer = setTimeout(expire, timeoutMs)
    }

    if (response.socket) start()
    else response.once('socket', start)
    return () => {
      isStopped = true
      clearTimeout(timer)
      response.off('socket', start)
    }
  }
}
